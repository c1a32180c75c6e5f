#include "cache/pickle_walk.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include <fmt/format.h>

namespace racelab::cache {

namespace {

constexpr std::size_t k_max_memo = std::size_t{1} << 20U; // of 24 bytes each; a hostile PUT may name any slot

// What follows an opcode (pickletools.py, opcodes).
enum class Argument : std::uint8_t {
  unknown, // no opcode
  none,
  one, // bytes
  two,
  four,
  eight,
  line,      // up to the next newline
  two_lines, // GLOBAL, INST
  counted_1, // a length of so many bytes, then that much
  counted_4,
  counted_8,
};

constexpr std::array<Argument, 256> make_arguments() {
  std::array<Argument, 256> table{};
  for (const char c :
       std::string_view("()012.NQRabdeloust}]\x81\x85\x86\x87\x88\x89\x8f\x90\x91\x92\x93\x94\x97\x98")) {
    table[static_cast<unsigned char>(c)] = Argument::none;
  }
  for (const char c : std::string_view("Khq\x80\x82")) {
    table[static_cast<unsigned char>(c)] = Argument::one;
  }
  for (const char c : std::string_view("M\x83")) {
    table[static_cast<unsigned char>(c)] = Argument::two;
  }
  for (const char c : std::string_view("Jjr\x84")) {
    table[static_cast<unsigned char>(c)] = Argument::four;
  }
  for (const char c : std::string_view("G\x95")) {
    table[static_cast<unsigned char>(c)] = Argument::eight;
  }
  for (const char c : std::string_view("FILPSVgp")) {
    table[static_cast<unsigned char>(c)] = Argument::line;
  }
  for (const char c : std::string_view("ci")) {
    table[static_cast<unsigned char>(c)] = Argument::two_lines;
  }
  for (const char c : std::string_view("CU\x8a\x8c")) {
    table[static_cast<unsigned char>(c)] = Argument::counted_1;
  }
  for (const char c : std::string_view("BTX\x8b")) {
    table[static_cast<unsigned char>(c)] = Argument::counted_4;
  }
  for (const char c : std::string_view("\x8d\x8e\x96")) {
    table[static_cast<unsigned char>(c)] = Argument::counted_8;
  }
  return table;
}

constexpr std::array<Argument, 256> k_arguments = make_arguments();

enum Opcode : unsigned char {
  k_stop = '.',
  k_frame = 0x95,
  k_memoize = 0x94,
  k_binget = 'h',
  k_long_binget = 'j',
  k_binput = 'q',
  k_long_binput = 'r',
  k_proto = 0x80,
};

bool is_text(unsigned char opcode) {
  return opcode == 0x8c || opcode == 'X' || opcode == 0x8d; // SHORT_BINUNICODE, BINUNICODE, BINUNICODE8
}

bool is_bytes(unsigned char opcode) {
  return opcode == 'C' || opcode == 'B' || opcode == 0x8e || opcode == 0x96; // *BINBYTES*, BYTEARRAY8
}

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    value |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  }
  return value;
}

class Walk {
public:
  Walk(std::string_view bytes, const std::function<void(const PickleItem&)>& see) : m_bytes(bytes), m_see(see) {}

  PickleWalk run() {
    PickleWalk walk;
    if (m_bytes.size() < 2 || static_cast<unsigned char>(m_bytes[0]) != k_proto) {
      walk.error = m_bytes.empty() ? "empty" : "does not begin as a pickle";
      return walk;
    }
    walk.protocol = static_cast<unsigned char>(m_bytes[1]);
    if (walk.protocol < 2 || walk.protocol > 5) {
      walk.error = fmt::format("there is no pickle protocol {}", walk.protocol);
      return walk;
    }
    for (;;) {
      if (m_at == m_bytes.size()) {
        walk.error = "ends before its last opcode";
        return walk;
      }
      const auto opcode = static_cast<unsigned char>(m_bytes[m_at]);
      const std::size_t from = m_at++;
      if (opcode == k_stop) {
        walk.error = m_at == m_bytes.size() ? "" : fmt::format("{} bytes follow its end", m_bytes.size() - m_at);
        return walk;
      }
      if (!step(opcode)) {
        walk.error = k_arguments[opcode] == Argument::unknown
                         ? fmt::format("no opcode at byte {} (0x{:02x})", from, opcode)
                         : fmt::format("the opcode at byte {} needs more than is there", from);
        return walk;
      }
    }
  }

private:
  bool take(std::uint64_t n, std::string_view& taken) {
    if (n > m_bytes.size() - m_at) {
      return false;
    }
    taken = m_bytes.substr(m_at, n);
    m_at += n;
    return true;
  }

  bool take_line() {
    const std::size_t end = m_bytes.find('\n', m_at);
    m_at = end == std::string_view::npos ? m_bytes.size() : end + 1;
    return end != std::string_view::npos;
  }

  bool take_counted(std::size_t size_bytes, std::string_view& taken) {
    std::string_view size;
    return take(size_bytes, size) && take(little_endian(size), taken);
  }

  bool step(unsigned char opcode) {
    std::string_view argument;
    switch (k_arguments[opcode]) {
    case Argument::unknown:
      return false;
    case Argument::none:
      break;
    case Argument::line:
      return take_line();
    case Argument::two_lines:
      return take_line() && take_line();
    case Argument::one:
    case Argument::two:
    case Argument::four:
    case Argument::eight:
      if (!take(width(k_arguments[opcode]), argument)) {
        return false;
      }
      break;
    case Argument::counted_1:
    case Argument::counted_4:
    case Argument::counted_8:
      if (!take_counted(width(k_arguments[opcode]), argument)) {
        return false;
      }
      break;
    }
    return note(opcode, argument);
  }

  static std::size_t width(Argument argument) {
    switch (argument) {
    case Argument::one:
    case Argument::counted_1:
      return 1;
    case Argument::two:
      return 2;
    case Argument::four:
    case Argument::counted_4:
      return 4;
    default:
      return 8;
    }
  }

  // What the opcode means for texts, bytes and the memo. False: a frame that is longer than the rest.
  bool note(unsigned char opcode, std::string_view argument) {
    if (is_text(opcode) || is_bytes(opcode)) {
      m_last = {argument, is_text(opcode)};
      m_see(m_last);
      return true;
    }
    switch (opcode) {
    case k_frame:
      return little_endian(argument) <= m_bytes.size() - m_at;
    case k_memoize:
      if (m_memo.size() < k_max_memo) {
        m_memo.push_back(m_last);
      }
      return true; // m_last stays what it is
    case k_binput:
    case k_long_binput:
      if (const std::uint64_t slot = little_endian(argument); slot < k_max_memo) {
        m_memo.resize(std::max<std::size_t>(m_memo.size(), slot + 1));
        m_memo[slot] = m_last;
      }
      return true;
    case k_binget:
    case k_long_binget:
      m_last = {};
      if (const std::uint64_t slot = little_endian(argument); slot < m_memo.size()) {
        m_last = m_memo[slot];
        if (m_last.value.data() != nullptr) {
          m_see(m_last);
        }
      }
      return true;
    default:
      m_last = {};
      return true;
    }
  }

  std::string_view m_bytes;
  const std::function<void(const PickleItem&)>& m_see;
  std::size_t m_at = 2; // behind PROTO
  PickleItem m_last;    // what lies on top of the stack, if that is a text or bytes
  std::vector<PickleItem> m_memo;
};

} // namespace

PickleWalk walk_pickle(std::string_view bytes, const std::function<void(const PickleItem&)>& see) {
  return Walk(bytes, see).run();
}

} // namespace racelab::cache
