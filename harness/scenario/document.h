#pragma once
// A YAML file as a plain tree: aliases copied in, duplicate keys refused, a place on every value. Nothing above this
// file knows yaml-cpp, and nothing above it needs to fear hostile input: size, depth and number of values are bounded
// here.
#include "base/error.h"

#include <string>
#include <string_view>
#include <vector>

namespace racelab::scenario {

constexpr std::size_t k_max_file_bytes = std::size_t{4} << 20U;
constexpr int k_max_depth = 64;
constexpr int k_max_values = 100'000;  // of one document, copies made by aliases included
constexpr int k_max_diagnostics = 100; // of one file; more would only scroll the first ones away

struct Entry;

struct Value {
  enum class Kind { null, scalar, list, map };

  Kind kind = Kind::null;
  std::string text;   // scalar
  bool plain = false; // scalar without quotes: it may stand for a number or a boolean
  base::SourcePlace place;
  std::vector<Value> items;   // list
  std::vector<Entry> entries; // map, in file order

  // The value of a key; nullptr where the key is missing or its value is null.
  const Value* find(std::string_view key) const;
  bool has(std::string_view key) const;
};

struct Entry {
  std::string key;
  base::SourcePlace place;
  Value value;
};

// The text of a scalar; empty for nullptr.
std::string text_of(const Value* value);
// A scalar as a list of one, a list's items; nothing for nullptr.
std::vector<std::string> texts_of(const Value* value);

// Collects what is wrong with a document, up to a bound that it then says.
class Diagnostics {
public:
  void add(const base::SourcePlace& place, const std::string& message);
  bool full() const { return m_list.size() >= k_max_diagnostics; }
  bool empty() const { return m_list.empty(); }
  // In file order, without repetitions.
  std::vector<base::Diagnostic> sorted() const;

private:
  std::vector<base::Diagnostic> m_list;
  bool m_more = false;
};

// Reads one YAML document. After a syntax error, or for an empty text, the result is null and a diagnostic says why.
// Columns count characters, not bytes.
Value parse_document(const std::string& text, const std::string& file, Diagnostics& diagnostics);

} // namespace racelab::scenario
