#include "base/assert.h"
#include "base/text.h"
#include "scenario/shape.h"

#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>

namespace racelab::scenario {

namespace {

constexpr std::size_t k_max_quoted = 60;

std::string in_quotes(const std::string& text) {
  if (text.size() <= k_max_quoted)
    return "'" + text + "'";
  std::size_t end = k_max_quoted;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) // not in the middle of a character
    --end;
  return "'" + text.substr(0, end) + "…'";
}

std::string found(const Value& value) {
  switch (value.kind) {
  case Value::Kind::null:
    return "nothing";
  case Value::Kind::list:
    return "a list";
  case Value::Kind::map:
    return "a map";
  case Value::Kind::scalar:
    break;
  }
  return (value.plain ? "" : "the text ") + in_quotes(value.text);
}

bool is_boolean_word(const std::string& word) {
  return word == "true" || word == "false";
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c); });
  return text;
}

class Validator {
public:
  Validator(const NameTables& names, Diagnostics& diagnostics) : m_names(names), m_diagnostics(diagnostics) {}

  // False: nothing of the value can be used. `path` names the value in messages: "matrix.caches[1]".
  bool check(Value& value, const Shape& shape, const std::string& path) {
    if (m_diagnostics.full())
      return false;
    switch (shape.kind) {
    case Shape::Kind::choice:
      return check_choice(value, shape, path);
    case Shape::Kind::list:
      return value.kind == Value::Kind::list ? check_list(value, shape, path) : wrong(value, shape, path);
    case Shape::Kind::map:
      return value.kind == Value::Kind::map ? check_map(value, shape, path) : wrong(value, shape, path);
    case Shape::Kind::scalar:
      return value.kind == Value::Kind::scalar || value.kind == Value::Kind::null || wrong(value, shape, path);
    default:
      return value.kind == Value::Kind::scalar ? check_scalar(value, shape, path) : wrong(value, shape, path);
    }
  }

private:
  bool fail(const base::SourcePlace& place, const std::string& message) {
    m_diagnostics.add(place, message);
    return false;
  }

  bool wrong(const Value& value, const Shape& shape, const std::string& path) {
    std::string message = fmt::format("{} must be {}, not {}", subject(path), describe(shape), found(value));
    if (shape.kind == Shape::Kind::words && value.kind == Value::Kind::scalar)
      message += base::did_you_mean(value.text, shape.words);
    return fail(value.place, message);
  }

  static std::string subject(const std::string& path) { return path.empty() ? "a scenario" : "'" + path + "'"; }

  bool check_choice(Value& value, const Shape& shape, const std::string& path) {
    for (const Shape& alternative : shape.inner) {
      const bool scalar = alternative.kind != Shape::Kind::list && alternative.kind != Shape::Kind::map;
      if ((value.kind == Value::Kind::list && alternative.kind == Shape::Kind::list) ||
          (value.kind == Value::Kind::map && alternative.kind == Shape::Kind::map))
        return check(value, alternative, path);
      if (value.kind == Value::Kind::scalar && scalar && check_quietly(value, alternative))
        return true;
      if (value.kind == Value::Kind::scalar && scalar && alternative.refers_to != NameKind::none)
        return check_scalar(value, alternative, path);
    }
    return wrong(value, shape, path);
  }

  // Whether a scalar fits, so that a choice can say all that would have been right if it does not.
  bool check_quietly(Value& value, const Shape& shape) const {
    Diagnostics ignored;
    return Validator(m_names, ignored).check_scalar(value, shape, "");
  }

  bool check_scalar(Value& value, const Shape& shape, const std::string& path) {
    std::uint64_t whole = 0;
    double number = 0;
    switch (shape.kind) {
    case Shape::Kind::text:
      return check_text(value, shape, path);
    case Shape::Kind::words:
      return check_word(value, shape, path);
    case Shape::Kind::integer:
      return (read_integer(value, whole) && whole >= shape.minimum && whole <= shape.maximum) ||
             wrong(value, shape, path);
    case Shape::Kind::number:
      return (read_number(value, number) && number > 0) || wrong(value, shape, path);
    case Shape::Kind::duration: {
      const auto duration = base::parse_duration(value.text);
      const auto ms = duration ? static_cast<std::uint64_t>(duration->count()) : 0;
      return (duration && ms >= shape.minimum && ms <= shape.maximum) || wrong(value, shape, path);
    }
    default:
      return true;
    }
  }

  bool check_text(const Value& value, const Shape& shape, const std::string& path) {
    if (shape.refers_to != NameKind::none)
      return check_reference(value.text, value.place, shape.refers_to);
    return rule_of(shape.format).accepts(value.text) || wrong(value, shape, path);
  }

  bool check_word(Value& value, const Shape& shape, const std::string& path) {
    if (std::find(shape.words.begin(), shape.words.end(), value.text) != shape.words.end())
      return true;
    // YAML also writes booleans as True and TRUE.
    const std::string word = lower(value.text);
    if (is_boolean_word(word) && std::find(shape.words.begin(), shape.words.end(), word) != shape.words.end()) {
      value.text = word;
      return true;
    }
    return wrong(value, shape, path);
  }

  bool check_reference(const std::string& name, const base::SourcePlace& place, NameKind kind) {
    const auto table = m_names.find(kind);
    if (table == m_names.end() || table->second.has(name))
      return true;
    return fail(place, unknown_name(kind, name, m_names));
  }

  bool check_size(const Value& value, const Shape& shape, std::size_t size, const std::string& path) {
    const char* const what = value.kind == Value::Kind::list ? "item" : "key";
    if (size < static_cast<std::size_t>(shape.min_items))
      return fail(value.place, fmt::format("{} must not be empty", subject(path)));
    if (size > static_cast<std::size_t>(shape.max_items))
      return fail(value.place,
                  fmt::format("{} has {} {}s; it may have {} at most", subject(path), size, what, shape.max_items));
    return true;
  }

  bool check_list(Value& value, const Shape& shape, const std::string& path) {
    if (!check_size(value, shape, value.items.size(), path))
      return false;
    const Shape& item_shape = shape.inner.front();
    std::unordered_set<std::string> seen;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < value.items.size(); ++i) {
      Value& item = value.items[i];
      if (!check(item, item_shape, fmt::format("{}[{}]", path, i)))
        continue;
      if (shape.unique && item.kind == Value::Kind::scalar && !seen.insert(item.text).second) {
        fail(item.place, fmt::format("{} names {} twice", subject(path), in_quotes(item.text)));
        continue;
      }
      if (kept != i)
        value.items[kept] = std::move(item);
      ++kept;
    }
    value.items.resize(kept);
    return true;
  }

  bool check_map(Value& value, const Shape& shape, const std::string& path) {
    if (!check_size(value, shape, value.entries.size(), path))
      return false;
    for (const Key& key : shape.keys)
      if (key.required && !value.has(key.name))
        fail(value.place, fmt::format("{} lacks the key '{}'", subject(path), key.name));
    std::erase_if(value.entries, [&](Entry& entry) { return !check_entry(entry, shape, path); });
    return true;
  }

  // False: the entry has no meaning and goes. An entry with a wrong value stays, as its name may be referred to.
  bool check_entry(Entry& entry, const Shape& shape, const std::string& path) {
    const std::string inner_path = path.empty() ? entry.key : path + "." + entry.key;
    const auto known =
        std::find_if(shape.keys.begin(), shape.keys.end(), [&](const Key& key) { return key.name == entry.key; });
    const Shape* inner = known != shape.keys.end() ? &known->shape : nullptr;
    if (inner == nullptr && !shape.inner.empty()) {
      inner = &shape.inner.front();
      check_free_key(entry, shape, path);
    }
    if (inner == nullptr)
      return unknown_key(entry, shape);
    if (!check(entry.value, *inner, inner_path)) {
      const base::SourcePlace place = entry.value.place;
      entry.value = Value();
      entry.value.place = place;
    }
    return true;
  }

  void check_free_key(const Entry& entry, const Shape& shape, const std::string& path) {
    if (shape.keys_refer_to != NameKind::none)
      check_reference(entry.key, entry.place, shape.keys_refer_to);
    else if (const FormatRule& rule = rule_of(shape.key_format); !rule.accepts(entry.key))
      fail(entry.place, fmt::format("{} in {} must be {}", in_quotes(entry.key), subject(path), rule.meaning));
  }

  bool unknown_key(const Entry& entry, const Shape& shape) {
    std::vector<std::string> names;
    for (const Key& key : shape.keys)
      names.push_back(key.name);
    std::string meant = base::did_you_mean(entry.key, names);
    if (meant.empty())
      meant = names.empty() ? " (there are none)" : fmt::format(" (known: {})", base::join(names, ", "));
    return fail(entry.place, fmt::format("unknown {} {}{}", shape.key_noun, in_quotes(entry.key), meant));
  }

  const NameTables& m_names;
  Diagnostics& m_diagnostics;
};

} // namespace

void validate(Value& value, const Shape& shape, const NameTables& names, Diagnostics& diagnostics) {
  const base::SourcePlace place = value.place;
  if (!Validator(names, diagnostics).check(value, shape, "")) {
    value = Value();
    value.kind = Value::Kind::map;
    value.place = place;
  }
}

} // namespace racelab::scenario
