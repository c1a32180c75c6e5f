#pragma once
// The verbs of the program: a file each, with its help text beside its options.
#include <string>
#include <vector>

namespace racelab::cli {

struct Verb {
  const char* name;
  const char* about;                                     // one line
  int (*run)(const std::vector<std::string>& arguments); // returns the exit code; throws base::UserError
};

int run_verb(const std::vector<std::string>& arguments);
int check_verb(const std::vector<std::string>& arguments);
int explain_verb(const std::vector<std::string>& arguments);
int list_verb(const std::vector<std::string>& arguments);
int report_verb(const std::vector<std::string>& arguments);
int cache_verb(const std::vector<std::string>& arguments);
int doctor_verb(const std::vector<std::string>& arguments);
int schema_verb(const std::vector<std::string>& arguments);
int help_verb(const std::vector<std::string>& arguments);

const std::vector<Verb>& verbs();

// Runs the one that the first word names with the other words. There is none: throws `missing`, with what was meant and
// the command `remedy`.
int run_named(const std::vector<Verb>& among, const std::vector<std::string>& words, const std::string& missing,
              const std::string& remedy);

// Runs the verb that the words of the command line (without the program) name.
int dispatch(const std::vector<std::string>& words);

} // namespace racelab::cli
