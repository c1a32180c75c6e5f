#pragma once
// Command-line options of one verb. A thin front of CLI11, which is slow to include, so that each verb's file can keep
// its options beside their help text.
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace racelab::cli {

class Options {
public:
  // `usage` follows "racelab " in the help; `footer` stands below the options (examples).
  Options(const std::string& usage, const std::string& about, const std::string& footer = {});
  ~Options();
  Options(const Options&) = delete;
  Options& operator=(const Options&) = delete;

  void positional(const std::string& name, std::string& value, const std::string& help, bool required = true);
  void flag(const std::string& names, bool& value, const std::string& help);
  void option(const std::string& names, std::string& value, const std::string& placeholder, const std::string& help);
  void option(const std::string& names, std::optional<int>& value, const std::string& placeholder,
              const std::string& help, int least, int most);
  void repeated(const std::string& names, std::vector<std::string>& values, const std::string& placeholder,
                const std::string& help);
  void choice(const std::string& names, std::string& value, const std::vector<std::string>& choices,
              const std::string& help);

  // False: help was asked for and printed. Throws base::UserError (usage) with what is wrong and the nearest option.
  bool parse(const std::vector<std::string>& arguments);

private:
  struct Impl;
  std::unique_ptr<Impl> m_impl;
};

} // namespace racelab::cli
