#pragma once
// A torch that is installed, looked at as files: nothing of it is run or imported.
#include <map>
#include <string>
#include <vector>

namespace racelab::cache {

struct InstalledTorch {
  std::string folder; // site-packages
  bool there = false; // torch/version.py is
  std::string torch, git, cuda, triton;
  bool has_record = false;          // of what the wheel installed
  std::vector<std::string> patched; // compiler's files that are not as the wheel has them: "torch/…/x.py differs", …
  std::vector<std::string> sources; // what torch's own digest of these sources may be (torch/_inductor, torch_key)

  bool wrote(const std::string& digest) const; // a cache with that digest
};

// torch/version.py and the version of triton only.
InstalledTorch read_versions(const std::string& site_packages);

// Also compares the compiler (torch's _inductor, _dynamo, _functorch and fx; triton) with the digests in the wheel's
// RECORD, and forms the digest that torch puts into its keys.
InstalledTorch look_at_installed(const std::string& site_packages);

// Looks at each folder once.
class InstalledTorches {
public:
  const InstalledTorch& at(const std::string& site_packages);

private:
  std::map<std::string, InstalledTorch> m_known;
};

} // namespace racelab::cache
