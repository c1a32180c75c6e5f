#include "cache/writers.h"

#include "base/files.h"
#include "base/text.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

namespace racelab::cache {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t k_most_looked_at = 4; // environments

void count(std::vector<Value>& values, const std::string& value) {
  if (value.empty()) {
    return;
  }
  const auto at = std::find_if(values.begin(), values.end(), [&](const Value& v) { return v.value == value; });
  at == values.end() ? values.push_back({value, 1}) : static_cast<void>(++at->files);
}

// As /etc/passwd has it: getpwuid() would load libraries, which a static program should not.
std::string user_name(unsigned id) {
  const auto passwd = base::read_file("/etc/passwd", std::size_t{16} << 20U);
  for (const std::string& line : base::split(passwd.value_or(""), '\n')) {
    const auto fields = base::split(line, ':');
    if (fields.size() > 2 && fields[2] == std::to_string(id)) {
      return fields[0];
    }
  }
  return fmt::format("user {}", id);
}

void set(std::string& value, const std::string& told) {
  if (value.empty()) {
    value = told;
  }
}

void add(Writers& writers, const CachedFile& file) {
  const Told& told = file.facts.told;
  count(writers.triton, told.triton);
  count(writers.cuda_tools, told.cuda_tools);
  count(writers.ptx, told.ptx);
  count(writers.compilers, told.compiler);
  count(writers.pythons, told.python);
  count(writers.gpus, told.gpu);
  count(writers.written_at, told.written_at);
  for (const std::string& folder : told.environments) {
    const auto at = std::find_if(writers.environments.begin(), writers.environments.end(),
                                 [&](const Environment& e) { return e.now.folder == folder; });
    if (at != writers.environments.end()) {
      ++at->files;
    } else {
      Environment environment;
      environment.files = 1;
      environment.now.folder = folder;
      writers.environments.push_back(std::move(environment));
    }
  }
  if (told.sources.empty()) {
    return;
  }
  auto at = std::find_if(writers.torch.begin(), writers.torch.end(),
                         [&](const Writer& w) { return w.sources == told.sources; });
  if (at == writers.torch.end()) {
    writers.torch.push_back({});
    at = std::prev(writers.torch.end());
    at->sources = told.sources;
    at->first_ns = at->last_ns = file.changed_ns;
  }
  ++at->files;
  at->first_ns = std::min(at->first_ns, file.changed_ns);
  at->last_ns = std::max(at->last_ns, file.changed_ns);
  set(at->torch, told.torch);
  set(at->torch_git, told.torch_git);
  set(at->torch_cuda, told.torch_cuda);
  set(at->triton, told.triton);
  set(at->triton_sources, told.triton_sources);
  set(at->gpu, told.gpu);
}

// What is installed there may say what the entries leave out, if it is the one that wrote them.
void adopt(Writers& writers, Environment& environment) {
  for (Writer& writer : writers.torch) {
    if (environment.now.wrote(writer.sources)) {
      environment.wrote = writer.sources;
      set(writer.torch, environment.now.torch);
      set(writer.torch_git, environment.now.git);
      set(writer.torch_cuda, environment.now.cuda);
    }
  }
}

} // namespace

Writers writers_of(const Inspection& inspection) {
  Writers writers;
  std::map<unsigned, std::int64_t> owners;
  for (const CachedFile& file : inspection.files) {
    ++owners[file.owner];
    if (file.facts.damage.empty()) { // damaged ones say what they like
      add(writers, file);
    }
  }
  for (const auto& [owner, files] : owners) {
    writers.owners.push_back({user_name(owner), files});
  }
  std::sort(writers.torch.begin(), writers.torch.end(),
            [](const Writer& a, const Writer& b) { return a.first_ns < b.first_ns; });
  return writers;
}

void look_at_environments(Writers& writers, const std::vector<std::string>& candidates, InstalledTorches& installed) {
  if (writers.environments.size() > k_most_looked_at) {
    std::stable_sort(writers.environments.begin(), writers.environments.end(),
                     [](const auto& a, const auto& b) { return a.files > b.files; });
  }
  std::vector<fs::path> seen;
  std::error_code error;
  for (std::size_t i = 0; i < writers.environments.size() && i < k_most_looked_at; ++i) {
    Environment& environment = writers.environments[i];
    environment.now = installed.at(environment.now.folder);
    environment.looked_at = true;
    seen.push_back(fs::weakly_canonical(environment.now.folder, error));
    adopt(writers, environment);
  }
  for (const std::string& candidate : candidates) {
    const bool needed = std::any_of(writers.torch.begin(), writers.torch.end(), [&](const Writer& writer) {
      return std::none_of(writers.environments.begin(), writers.environments.end(),
                          [&](const auto& e) { return e.wrote == writer.sources; });
    });
    const fs::path real = fs::weakly_canonical(candidate, error);
    if (!needed || std::find(seen.begin(), seen.end(), real) != seen.end()) {
      continue;
    }
    seen.push_back(real);
    const InstalledTorch versions = read_versions(candidate);
    const bool may_be = std::any_of(writers.torch.begin(), writers.torch.end(), [&](const Writer& writer) {
      return writer.torch.empty() || writer.torch == versions.torch;
    });
    if (!versions.there || !may_be) {
      continue;
    }
    Environment environment;
    environment.named = false;
    environment.now = installed.at(candidate);
    environment.looked_at = true;
    adopt(writers, environment);
    if (!environment.wrote.empty()) {
      writers.environments.push_back(std::move(environment));
    }
  }
}

std::string describe(const Writer& writer, const Writers& all) {
  std::string text = writer.torch.empty() ? "a torch that does not say its version" : "torch " + writer.torch;
  if (!writer.torch_git.empty()) {
    text += " (" + writer.torch_git.substr(0, 10) + ")";
  }
  if (!writer.torch_cuda.empty()) {
    text += ", CUDA " + writer.torch_cuda;
  }
  const std::string triton = !writer.triton.empty()                            ? writer.triton
                             : all.torch.size() == 1 && all.triton.size() == 1 ? all.triton[0].value
                                                                               : "";
  return text + (triton.empty() ? "" : ", triton " + triton);
}

std::string patched(const Writer& writer, const Writers& all) {
  for (const Environment& environment : all.environments) {
    const auto& patches = environment.now.patched;
    if (environment.wrote == writer.sources && !patches.empty()) {
      return patches[0] + (patches.size() == 1 ? "" : fmt::format(", and {} more", patches.size() - 1));
    }
  }
  return {};
}

std::string compare_writers(const Writers& before, const Writers& after) {
  if (after.torch.empty()) {
    return "by whom the files do not tell";
  }
  const Writer& last = after.torch.back();
  const Writer* old = before.torch.empty() ? nullptr : &before.torch.back();
  const bool same = std::any_of(before.torch.begin(), before.torch.end(),
                                [&](const Writer& writer) { return writer.sources == last.sources; });
  const std::string who = describe(last, after), patch = patched(last, after);
  const std::string written = after.torch.size() == 1
                                  ? "written by "
                                  : fmt::format("written by {} toolkits, the last time by ", after.torch.size());
  if (!patch.empty()) {
    return written + (same ? "the same patched toolkit: " : "a patched toolkit: ") + who + ", " + patch;
  }
  if (same) {
    return written + "the same toolkit: " + who;
  }
  if (old == nullptr) {
    return written + who;
  }
  if (!old->torch.empty() && old->torch == last.torch && old->torch_git == last.torch_git) {
    return written + "a changed toolkit: " + who +
           " by its version as before, but its sources, or its Python, are others";
  }
  return written + "another toolkit: " + who + "; before, " + describe(*old, before);
}

} // namespace racelab::cache
