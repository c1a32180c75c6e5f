#pragma once
// Pickles as torch's caches have them, written opcode by opcode.
#include <string>
#include <vector>

namespace racelab::cache::test {

class Pickle {
public:
  Pickle& text(const std::string& value); // SHORT_BINUNICODE or BINUNICODE, and MEMOIZE
  Pickle& bytes(const std::string& value);
  Pickle& again(int memorised); // BINGET of the n-th text
  Pickle& raw(const std::string& opcodes);
  std::string str() const; // with PROTO 4 and STOP

private:
  std::string m_opcodes;
};

// "[DIGEST] NAME: VALUE", as FxGraphCachePickler.debug_lines has it.
std::string debug_line(char digest_letter, const std::string& text);

// torch's sha256_hash().
std::string torch_digest(const std::string& bytes);

// 52 letters that are a key: "f" and the letter again and again.
std::string key_of(char first, char letter);

// A cache of one key each as torch 2.11 writes it, below `root`: Inductor's code, an FX graph with a bundle of a Triton
// kernel, its AOTAutograd entry, and that kernel in Triton's cache.
struct SmallCache {
  std::string code, graph, aot, cubin, metadata, group; // paths below `root`
};
SmallCache put_small_cache(const std::string& root, char letter = 'a', const std::string& torch = "2.11.0");

// An ELF file with a section .text.NAME and the symbol table's source file.
std::string elf_file(const std::string& kernel, const std::string& source, unsigned machine);

} // namespace racelab::cache::test
