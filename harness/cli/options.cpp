#include "cli/options.h"

#include "base/error.h"
#include "base/text.h"

#include <algorithm>
#include <iostream>

#include <CLI/CLI.hpp>

namespace racelab::cli {

struct Options::Impl {
  std::string usage;
  CLI::App app;
  std::vector<std::string> names; // "--trials", for did-you-mean

  explicit Impl(const std::string& about) : app(about) {}

  // The words before the first argument: "run", "cache show".
  std::string verb() const {
    std::string words;
    for (const std::string& word : base::split(usage, ' ')) {
      if (word.find_first_not_of("abcdefghijklmnopqrstuvwxyz") != std::string::npos) {
        break;
      }
      words += (words.empty() ? "" : " ") + word;
    }
    return words;
  }

  CLI::Option* note(const std::string& all, CLI::Option* option) {
    for (const std::string& name : base::split(all, ',')) {
      names.push_back(name);
    }
    return option;
  }
};

Options::Options(const std::string& usage, const std::string& about, const std::string& footer)
    : m_impl(std::make_unique<Impl>(about)) {
  m_impl->usage = usage;
  m_impl->app.name("racelab " + m_impl->verb());
  m_impl->app.footer(footer);
  m_impl->app.set_help_flag("-h,--help", "Print this help and exit");
  m_impl->app.allow_windows_style_options(false);
  m_impl->names = {"-h", "--help"};
}

Options::~Options() = default;

void Options::positional(const std::string& name, std::string& value, const std::string& help, bool required) {
  m_impl->app.add_option(name, value, help)->required(required);
}

void Options::flag(const std::string& names, bool& value, const std::string& help) {
  m_impl->note(names, m_impl->app.add_flag(names, value, help));
}

void Options::option(const std::string& names, std::string& value, const std::string& placeholder,
                     const std::string& help) {
  m_impl->note(names, m_impl->app.add_option(names, value, help)->type_name(placeholder));
}

void Options::option(const std::string& names, std::optional<int>& value, const std::string& placeholder,
                     const std::string& help, int least, int most) {
  m_impl->note(names,
               m_impl->app.add_option(names, value, help)->check(CLI::Range(least, most))->type_name(placeholder));
}

void Options::repeated(const std::string& names, std::vector<std::string>& values, const std::string& placeholder,
                       const std::string& help) {
  m_impl->note(names, m_impl->app.add_option(names, values, help)->allow_extra_args(false)->type_name(placeholder));
}

void Options::choice(const std::string& names, std::string& value, const std::vector<std::string>& choices,
                     const std::string& help) {
  m_impl->note(
      names,
      m_impl->app.add_option(names, value, help)->check(CLI::IsMember(choices))->type_name(base::join(choices, "|")));
}

bool Options::parse(const std::vector<std::string>& arguments) {
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  try {
    m_impl->app.parse(reversed);
    return true;
  } catch (const CLI::CallForHelp&) {
    std::cout << m_impl->app.help();
    return false;
  } catch (const CLI::ParseError& error) {
    std::string message = error.what();
    for (const std::string& word : arguments) {
      const std::string name = word.substr(0, word.find('='));
      if (name.size() > 1 && name[0] == '-' &&
          std::find(m_impl->names.begin(), m_impl->names.end(), name) == m_impl->names.end()) {
        const std::string near = base::did_you_mean(name, m_impl->names);
        message = near.empty() ? message : "unknown option " + name + near;
      }
    }
    throw base::UserError(base::ExitCode::usage, message + "\n(racelab " + m_impl->verb() + " --help)");
  }
}

} // namespace racelab::cli
