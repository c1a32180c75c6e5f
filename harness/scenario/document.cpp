#include "scenario/document.h"

#include "base/assert.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

namespace racelab::scenario {

namespace {

// Ends the walk through a document that cannot be read on.
struct Stop {
  base::Diagnostic diagnostic;
};

// Length of the UTF-8 sequence at text[i], 0 if it is malformed (overlong forms and surrogates included).
std::size_t utf8_length(std::string_view text, std::size_t i) {
  const auto byte = [&](std::size_t k) { return k < text.size() ? static_cast<unsigned char>(text[k]) : 0U; };
  const unsigned first = byte(i);
  if (first < 0x80)
    return 1;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4)
    return 0;
  for (std::size_t k = 1; k < length; ++k)
    if ((byte(i + k) & 0xC0U) != 0x80U)
      return 0;
  const unsigned second = byte(i + 1);
  const bool wrong = (first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) ||
                     (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F);
  return wrong ? 0 : length;
}

// A message is one line of a terminal, whatever names the file has: no control characters, no megabytes.
std::string printable(const std::string& message) {
  constexpr std::size_t k_max_message = 600;
  std::string text;
  for (std::size_t i = 0; i < message.size(); ++i) {
    const auto c = static_cast<unsigned char>(message[i]);
    if (text.size() >= k_max_message && (c & 0xC0U) != 0x80U) // not in the middle of a character
      return text + "…";
    text += c < 0x20 || c == 0x7F ? fmt::format("\\x{:02x}", c) : std::string(1, message[i]);
  }
  return text;
}

// The lines of a text, to turn yaml-cpp's byte columns into columns of characters.
class Lines {
public:
  Lines(const std::string& text, std::string file) : m_text(text), m_file(std::move(file)) {
    for (std::size_t i = 0; i != std::string::npos; i = next_line(i))
      m_starts.push_back(i);
  }

  // `line` and `column` count from 0, `column` in bytes.
  base::SourcePlace place(int line, int column) {
    if (line < 0 || line >= static_cast<int>(m_starts.size()))
      return {m_file, std::max(1, static_cast<int>(m_starts.size())), 1};
    // Marks come in file order, so a line is counted once and not again for each of its values.
    if (line != m_line || column < m_bytes) {
      m_line = line;
      m_bytes = m_characters = 0;
    }
    const std::size_t start = m_starts[line] + (line == 0 && m_text.starts_with("\xEF\xBB\xBF") ? 3 : 0);
    for (; m_bytes < column && start + m_bytes < m_text.size(); ++m_bytes)
      m_characters += (static_cast<unsigned char>(m_text[start + m_bytes]) & 0xC0U) != 0x80U ? 1 : 0;
    return {m_file, line + 1, m_characters + 1};
  }

  base::SourcePlace place_of_offset(std::size_t offset) {
    const auto after = std::upper_bound(m_starts.begin(), m_starts.end(), offset);
    const int line = static_cast<int>(after - m_starts.begin()) - 1;
    return place(line, static_cast<int>(offset - m_starts[line]));
  }

  std::string_view line(int number) const {
    if (number < 0 || number >= static_cast<int>(m_starts.size()))
      return {};
    return std::string_view(m_text).substr(m_starts[number], m_text.find('\n', m_starts[number]) - m_starts[number]);
  }

private:
  std::size_t next_line(std::size_t i) const {
    const std::size_t end = m_text.find('\n', i);
    return end == std::string::npos ? end : end + 1;
  }

  const std::string& m_text;
  std::string m_file;
  std::vector<std::size_t> m_starts;
  int m_line = -1, m_bytes = 0, m_characters = 0;
};

// Builds the tree from yaml-cpp's events, without recursion. An alias becomes a copy of what its anchor named.
class Builder : public YAML::EventHandler {
public:
  Builder(const std::string& text, Lines& lines, Diagnostics& diagnostics)
      : m_text(text), m_lines(lines), m_diagnostics(diagnostics) {}

  std::optional<Value> root;

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (root)
      throw Stop{{place(mark), "a second document starts here; a file holds one scenario (is this line indented less "
                               "than the first one?)"}};
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { complete(make(mark), anchor); }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = m_anchors.find(anchor);
    if (found == m_anchors.end())
      throw Stop{{place(mark), "this alias stands inside the value that it names"}};
    count(mark, found->second.values);
    complete(found->second.value, 0);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    Value value = make(mark);
    value.kind = Value::Kind::scalar;
    value.text = text;
    value.plain = tag == "?" || (tag.starts_with("tag:yaml.org,2002:") && !tag.ends_with(":str"));
    refuse_foreign_tag(mark, tag);
    refuse_open_quote(mark);
    complete(std::move(value), anchor);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, Value::Kind::list);
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, Value::Kind::map);
  }
  void OnMapEnd() override { close(); }

private:
  struct Frame {
    Value value;
    YAML::anchor_t anchor = 0;
    int values_before = 0;
    std::optional<Entry> entry; // a map's key that waits for its value
    bool keep_entry = true;     // false: the key was refused
    std::unordered_map<std::string, int> key_lines;
  };
  struct Anchored {
    Value value;
    int values = 0;
  };

  base::SourcePlace place(const YAML::Mark& mark) { return m_lines.place(mark.line, mark.column); }

  void count(const YAML::Mark& mark, int values) {
    m_values += values;
    if (m_values > k_max_values)
      throw Stop{{place(mark), fmt::format("too many values: a scenario has at most {}", k_max_values)}};
  }

  Value make(const YAML::Mark& mark) {
    count(mark, 1);
    Value value;
    value.place = place(mark);
    return value;
  }

  void refuse_foreign_tag(const YAML::Mark& mark, const std::string& tag) {
    if (tag.empty() || tag == "?" || tag == "!" || tag.starts_with("tag:yaml.org,2002:"))
      return;
    m_diagnostics.add(place(mark), fmt::format("the tag '{}' has no meaning in a scenario", tag));
  }

  // yaml-cpp takes the end of the file for the end of a quoted text.
  void refuse_open_quote(const YAML::Mark& mark) {
    const bool byte_order_mark = m_text.starts_with("\xEF\xBB\xBF");
    const std::size_t begin = static_cast<std::size_t>(mark.pos) + (byte_order_mark ? 3 : 0);
    if (begin >= m_text.size() || (m_text[begin] != '"' && m_text[begin] != '\''))
      return;
    const char quote = m_text[begin];
    for (std::size_t i = begin + 1; i < m_text.size(); ++i) {
      const bool doubled = quote == '\'' && m_text.compare(i, 2, "''") == 0;
      if (doubled || (quote == '"' && m_text[i] == '\\'))
        ++i;
      else if (m_text[i] == quote)
        return;
    }
    throw Stop{{place(mark), fmt::format("not valid YAML: this {} is never closed", quote)}};
  }

  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, Value::Kind kind) {
    if (static_cast<int>(m_stack.size()) >= k_max_depth)
      throw Stop{{place(mark), fmt::format("nested more than {} deep", k_max_depth)}};
    refuse_foreign_tag(mark, tag);
    Frame frame;
    frame.anchor = anchor;
    frame.values_before = m_values;
    frame.value = make(mark);
    frame.value.kind = kind;
    m_stack.push_back(std::move(frame));
  }

  void close() {
    Frame frame = std::move(m_stack.back());
    m_stack.pop_back();
    complete(std::move(frame.value), frame.anchor, m_values - frame.values_before);
  }

  void complete(Value value, YAML::anchor_t anchor, int values = 1) {
    if (anchor != 0) {
      count_copy(value.place, values);
      m_anchors[anchor] = {value, values};
    }
    if (m_stack.empty()) {
      root = std::move(value);
      return;
    }
    Frame& parent = m_stack.back();
    if (parent.value.kind == Value::Kind::list) {
      parent.value.items.push_back(std::move(value));
    } else if (!parent.entry) {
      take_key(parent, std::move(value));
    } else {
      // The place of a value that is not there is that of its key.
      if (value.kind == Value::Kind::null && value.place.line != parent.entry->place.line)
        value.place = parent.entry->place;
      parent.entry->value = std::move(value);
      if (parent.keep_entry)
        parent.value.entries.push_back(std::move(*parent.entry));
      parent.entry.reset();
    }
  }

  void count_copy(const base::SourcePlace& at, int values) {
    m_values += values;
    if (m_values > k_max_values)
      throw Stop{{at, fmt::format("too many values: a scenario has at most {}", k_max_values)}};
  }

  void take_key(Frame& parent, Value key) {
    parent.entry = Entry{key.text, key.place, {}};
    parent.keep_entry = false;
    if (key.kind != Value::Kind::scalar) {
      m_diagnostics.add(key.place, "a key must be a plain word");
    } else if (key.text == "<<" && key.plain) {
      m_diagnostics.add(key.place, "merge keys ('<<') are not supported; name the whole value with an alias instead");
    } else if (const auto [first, fresh] = parent.key_lines.try_emplace(key.text, key.place.line); !fresh) {
      m_diagnostics.add(key.place, fmt::format("duplicate key '{}' (first on line {})", key.text, first->second));
    } else {
      parent.keep_entry = true;
    }
  }

  const std::string& m_text;
  Lines& m_lines;
  Diagnostics& m_diagnostics;
  std::vector<Frame> m_stack;
  std::map<YAML::anchor_t, Anchored> m_anchors;
  int m_values = 0;
};

// The first byte that is not text, if any.
std::optional<base::Diagnostic> find_bad_byte(const std::string& text, Lines& lines) {
  for (std::size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    if ((c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7F)
      return base::Diagnostic{lines.place_of_offset(i),
                              fmt::format("control character 0x{:02X}; a scenario is text", c)};
    const std::size_t length = utf8_length(text, i);
    if (length == 0)
      return base::Diagnostic{lines.place_of_offset(i), fmt::format("byte 0x{:02X} is not UTF-8 text", c)};
    i += length;
  }
  return std::nullopt;
}

std::string syntax_message(const YAML::ParserException& error, const Lines& lines) {
  const std::string_view line = lines.line(error.mark.line);
  const std::size_t text = line.find_first_not_of(" \t");
  const bool tab = line.substr(0, text).find('\t') != std::string_view::npos;
  return fmt::format("not valid YAML: {}{}", error.msg, tab ? " (indent with spaces, not with tabs)" : "");
}

} // namespace

const Value* Value::find(std::string_view key) const {
  for (const Entry& entry : entries)
    if (entry.key == key)
      return entry.value.kind == Kind::null ? nullptr : &entry.value;
  return nullptr;
}

bool Value::has(std::string_view key) const {
  return std::any_of(entries.begin(), entries.end(), [&](const Entry& entry) { return entry.key == key; });
}

void Diagnostics::add(const base::SourcePlace& place, const std::string& message) {
  if (full())
    m_more = true;
  else
    m_list.push_back({place, printable(message)});
}

std::vector<base::Diagnostic> Diagnostics::sorted() const {
  const auto order = [](const base::Diagnostic& d) { return std::tie(d.place.file, d.place.line, d.place.column); };
  std::vector<base::Diagnostic> list = m_list;
  std::stable_sort(list.begin(), list.end(), [&](const auto& a, const auto& b) { return order(a) < order(b); });
  std::set<std::string> seen;
  std::erase_if(list, [&](const base::Diagnostic& d) { return !seen.insert(to_string(d)).second; });
  if (m_more)
    list.push_back({{list.back().place.file}, "more errors follow; these are the first"});
  return list;
}

Value parse_document(const std::string& text, const std::string& file, Diagnostics& diagnostics) {
  if (text.size() > k_max_file_bytes) {
    diagnostics.add({file, 1, 1},
                    fmt::format("{} bytes are too many: a scenario has at most {}", text.size(), k_max_file_bytes));
    return {};
  }
  Lines lines(text, file);
  if (const auto bad = find_bad_byte(text, lines)) {
    diagnostics.add(bad->place, bad->message);
    return {};
  }
  Builder builder(text, lines, diagnostics);
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const Stop& stop) {
    diagnostics.add(stop.diagnostic.place, stop.diagnostic.message);
    return {};
  } catch (const YAML::ParserException& error) {
    diagnostics.add(lines.place(error.mark.line, error.mark.column), syntax_message(error, lines));
    return {};
  }
  if (!builder.root || builder.root->kind == Value::Kind::null) {
    diagnostics.add({file, 1, 1}, "the file is empty");
    return {};
  }
  return std::move(*builder.root);
}

std::string text_of(const Value* value) {
  return value == nullptr ? std::string() : value->text;
}

std::vector<std::string> texts_of(const Value* value) {
  std::vector<std::string> texts;
  if (value == nullptr)
    return texts;
  if (value->kind == Value::Kind::scalar)
    texts.push_back(value->text);
  for (const Value& item : value->items)
    texts.push_back(item.text);
  return texts;
}

} // namespace racelab::scenario
