#include "cli/cache_text.h"

#include "base/text.h"

#include <algorithm>
#include <ctime>
#include <set>

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace racelab::cli {

using cache::Checked;
using cache::Environment;
using cache::Finding;
using cache::Inspection;
using cache::LayerDifference;
using cache::LayerSum;
using cache::Value;
using cache::Writer;
using cache::Writers;
using report::Color;
using report::pad_left;
using report::pad_right;
using report::paint;
using report::printable;
using report::Style;

namespace {

constexpr std::size_t k_few = 10;   // files that are listed unless all are asked for
constexpr std::size_t k_shown = 20; // findings in `show`
constexpr int k_label = 9;          // columns of a label and the blanks behind it
constexpr std::int64_t k_second = 1'000'000'000;

std::string bytes_text(std::int64_t bytes) {
  return base::format_bytes(static_cast<unsigned long long>(std::max<std::int64_t>(bytes, 0)));
}

std::string plural(std::int64_t n, const char* one, const char* many) {
  return fmt::format("{} {}", n, n == 1 ? one : many);
}

std::string entries_text(std::int64_t n) {
  return plural(n, "entry", "entries");
}

std::string files_text(std::int64_t n) {
  return plural(n, "file", "files");
}

std::string time_text(std::int64_t ns) {
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::gmtime(static_cast<std::time_t>(ns / k_second)));
}

std::string span_text(std::int64_t first, std::int64_t last) {
  const std::string from = time_text(first), to = time_text(last);
  return from == to ? from : from + " to " + (from.substr(0, 10) == to.substr(0, 10) ? to.substr(11) : to);
}

std::string iso_time(std::int64_t ns) {
  return base::iso_time(static_cast<std::time_t>(ns / k_second));
}

std::string holds_text(const Inspection& inspection) {
  std::vector<std::string> names;
  for (const std::string& part : inspection.holds) {
    names.push_back(part == "inductor" ? "Inductor" : part == "triton" ? "Triton" : "CUDA driver");
  }
  return names.empty() ? "empty" : base::join(names, ", ");
}

// A label, and lines that are indented below it.
std::string block(const std::string& label, const std::string& text, const Style& style, Color color = Color::plain) {
  constexpr int k_most_lines = 6;
  std::string result;
  bool first = true;
  for (const std::string& line : report::wrap(printable(text), report::width_of(style) - k_label - 2, k_most_lines)) {
    result +=
        "  " + paint(style, Color::dim, pad_right(first ? label : "", k_label)) + paint(style, color, line) + "\n";
    first = false;
  }
  return result;
}

std::string values_text(const std::vector<Value>& values, const std::string& before = {}) {
  std::vector<std::string> texts;
  for (const Value& value : values) {
    texts.push_back(before + value.value);
  }
  return base::join(texts, " and ");
}

const Environment* environment_of(const Writers& writers, const Writer& writer) {
  const auto at = std::find_if(writers.environments.begin(), writers.environments.end(),
                               [&](const Environment& e) { return e.wrote == writer.sources; });
  return at == writers.environments.end() ? nullptr : &*at;
}

std::string state_of(const Environment& environment) {
  if (!environment.looked_at) {
    return "not looked at, as others wrote more";
  }
  if (environment.now.sources.empty() && !environment.now.there) {
    return environment.now.torch.empty() ? "no torch is there today" : "";
  }
  std::string text = "torch " + environment.now.torch;
  if (!environment.now.git.empty()) {
    text += " (" + environment.now.git.substr(0, 10) + ")";
  }
  text += " today";
  text += environment.wrote.empty() ? ", whose sources are not those that wrote the cache"
                                    : ", whose sources wrote the cache";
  if (!environment.now.patched.empty()) {
    const auto& patches = environment.now.patched;
    text += "; patched: " + patches[0] + (patches.size() == 1 ? "" : fmt::format(", and {} more", patches.size() - 1));
  } else {
    text += environment.now.has_record ? "; as its wheel has it" : "; nothing records what its wheel had";
  }
  return text;
}

std::string with_text(const Writers& writers) {
  std::vector<std::string> parts;
  for (const std::string& part :
       {values_text(writers.pythons, "Python "), values_text(writers.cuda_tools, "CUDA tools "),
        values_text(writers.ptx, "PTX "), values_text(writers.compilers), values_text(writers.gpus, "on ")}) {
    if (!part.empty()) {
      parts.push_back(part);
    }
  }
  return base::join(parts, ", ");
}

std::string not_told(const Writers& writers) {
  std::vector<std::string> parts;
  const bool version =
      std::any_of(writers.torch.begin(), writers.torch.end(), [](const Writer& w) { return !w.torch.empty(); });
  const std::pair<const char*, bool> all[] = {
      {"torch's version", version},
      {"triton's version", !writers.triton.empty()},
      {"Python's version", !writers.pythons.empty()},
      {"CUDA's version",
       !writers.cuda_tools.empty() || std::any_of(writers.torch.begin(), writers.torch.end(),
                                                  [](const Writer& w) { return !w.torch_cuda.empty(); })},
      {"where torch is installed", !writers.environments.empty()}};
  for (const auto& [what, told] : all) {
    if (!told) {
      parts.emplace_back(what);
    }
  }
  return base::join(parts, ", ");
}

std::string writers_text(const Writers& writers, const Style& style) {
  std::string text;
  const char* label = "by";
  for (const Writer& writer : writers.torch) {
    text += block(label,
                  fmt::format("{}: {}, {}; sources {}", cache::describe(writer, writers), files_text(writer.files),
                              span_text(writer.first_ns, writer.last_ns), writer.sources.substr(0, 10)),
                  style, writers.torch.size() > 1 ? Color::yellow : Color::plain);
    label = "and by";
  }
  for (const Environment& environment : writers.environments) {
    const std::string state = state_of(environment);
    text += block("from",
                  environment.now.folder + (environment.named ? "" : " (not named by the files, but found)") +
                      (state.empty() ? "" : ": " + state),
                  style, environment.now.patched.empty() ? Color::plain : Color::red);
  }
  if (const std::string with = with_text(writers); !with.empty()) {
    text += block("with", with, style);
  }
  if (!writers.written_at.empty()) {
    text += block("at", values_text(writers.written_at) + ", Inductor's folder at that time", style);
  }
  if (const std::string missing = not_told(writers); !missing.empty()) {
    text += block("not told", missing, style, Color::dim);
  }
  return text;
}

std::string head_of(const LookedAt& cache, const Style& style) {
  std::string text = paint(style, Color::bold, printable(cache.name));
  return text + (cache.name == cache.inspection.folder ? "" : "  " + printable(cache.inspection.folder)) + "\n";
}

struct Column {
  std::string heading;
  bool left = false;
  std::vector<std::string> cells;
};

std::string render_columns(const std::vector<Column>& columns, const Style& style) {
  std::string text;
  const std::size_t rows = columns.front().cells.size();
  std::vector<int> widths;
  for (const Column& column : columns) {
    int width = report::columns_of(column.heading);
    for (const std::string& cell : column.cells) {
      width = std::max(width, report::columns_of(cell));
    }
    widths.push_back(width);
  }
  for (std::size_t row = 0; row <= rows; ++row) { // 0: the heading
    std::string line = " ";
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::string& cell = row == 0 ? columns[i].heading : columns[i].cells[row - 1];
      line += (i == 0 ? " " : "  ") + (columns[i].left ? pad_right(cell, widths[i]) : pad_left(cell, widths[i]));
    }
    line = report::shorten(report::without_trailing_blanks(line), report::width_of(style));
    text += (row == 0 ? paint(style, Color::dim, line) : line) + "\n";
  }
  return text;
}

std::string layers_table(const Inspection& inspection, const Style& style) {
  std::vector<Column> columns{{"layer", true, {}}, {"entries", false, {}}, {"files", false, {}},
                              {"size", false, {}}, {"damaged", false, {}}, {"written (UTC)", true, {}}};
  std::vector<LayerSum> rows = inspection.layers;
  rows.push_back(inspection.total);
  for (const LayerSum& sum : rows) {
    columns[0].cells.push_back(sum.name);
    columns[1].cells.push_back(sum.entries == 0 ? "–" : std::to_string(sum.entries));
    columns[2].cells.push_back(std::to_string(sum.files));
    columns[3].cells.push_back(bytes_text(sum.bytes));
    columns[4].cells.push_back(sum.damaged == 0 ? "" : std::to_string(sum.damaged));
    columns[5].cells.push_back(sum.files == 0 ? "" : span_text(sum.first_ns, sum.last_ns));
  }
  if (inspection.total.damaged == 0) {
    columns.erase(columns.begin() + 4);
  }
  return render_columns(columns, style);
}

std::string findings_text(const std::vector<Finding>& findings, std::size_t most, const Style& style, Color color) {
  std::string text;
  for (std::size_t i = 0; i < findings.size() && i < most; ++i) {
    const Finding& finding = findings[i];
    if (!finding.path.empty()) {
      text += "    " + paint(style, color, printable(finding.path)) + "\n";
    }
    for (const std::string& line : report::wrap(printable(finding.what), report::width_of(style) - 8, 4)) {
      text += (finding.path.empty() ? "    " : "        ") + line + "\n";
    }
  }
  if (findings.size() > most) {
    text += fmt::format("    and {} more\n", findings.size() - most);
  }
  return text;
}

std::int64_t damaged_paths(const Inspection& inspection) {
  std::set<std::string> paths;
  for (const Finding& finding : inspection.damage) {
    paths.insert(finding.path);
  }
  return static_cast<std::int64_t>(paths.size());
}

// "12 files (6 inductor-source, 6 inductor-library)": those that were checked so, and are whole; empty: there are none.
std::string checked_so(const Inspection& inspection, Checked how) {
  std::int64_t files = 0;
  std::vector<std::string> layers;
  for (const LayerSum& layer : inspection.layers) {
    const auto n = std::count_if(inspection.files.begin(), inspection.files.end(), [&](const cache::CachedFile& file) {
      return file.layer == layer.name && file.type == cache::FileType::regular && file.facts.damage.empty() &&
             file.facts.checked == how;
    });
    files += n;
    if (n > 0) {
      layers.push_back(fmt::format("{} {}", n, layer.name));
    }
  }
  return files == 0 ? std::string() : fmt::format("{} ({})", files_text(files), base::join(layers, ", "));
}

std::string checked_text(const Inspection& inspection, const Style& style) {
  const std::string exactly = checked_so(inspection, Checked::exactly), form = checked_so(inspection, Checked::by_form),
                    not_at_all = checked_so(inspection, Checked::not_at_all);
  std::string text;
  text += exactly.empty() ? "" : block("checked", exactly + ": to the last bit", style);
  text += form.empty() ? "" : block("by form", form + ": a changed bit inside may go unseen", style);
  text += not_at_all.empty() ? "" : block("not", not_at_all + ": racelab knows nothing that they must be", style);
  for (const std::string& what : inspection.unchecked) {
    text += block("not", what, style);
  }
  return text;
}

std::string side(const LookedAt& cache) {
  const LayerSum& total = cache.inspection.total;
  std::string text = cache.name + " (" + holds_text(cache.inspection) + ")";
  if (total.files > 0) {
    text += ", " + span_text(total.first_ns, total.last_ns) + " UTC by " + values_text(cache.writers.owners);
  }
  for (const Writer& writer : cache.writers.torch) {
    text += "; " + cache::describe(writer, cache.writers) + ", sources " + writer.sources.substr(0, 10);
    if (const Environment* environment = environment_of(cache.writers, writer)) {
      text += " from " + environment->now.folder;
    }
  }
  return text;
}

std::string differences_table(const cache::Difference& difference, const Style& style) {
  std::vector<Column> columns{{"layer", true, {}},  {"before", false, {}},  {"", false, {}},
                              {"after", false, {}}, {"", false, {}},        {"more", false, {}},
                              {"less", false, {}},  {"changed", false, {}}, {"same", false, {}}};
  std::vector<LayerDifference> rows = difference.layers;
  rows.push_back(difference.total);
  const auto number = [](std::int64_t n) { return n == 0 ? std::string("–") : std::to_string(n); };
  for (const LayerDifference& layer : rows) {
    columns[0].cells.push_back(layer.name);
    columns[1].cells.push_back(std::to_string(layer.before.entries));
    columns[2].cells.push_back(bytes_text(layer.before.bytes));
    columns[3].cells.push_back(std::to_string(layer.after.entries));
    columns[4].cells.push_back(bytes_text(layer.after.bytes));
    columns[5].cells.push_back(number(layer.more));
    columns[6].cells.push_back(number(layer.less));
    columns[7].cells.push_back(number(layer.changed));
    columns[8].cells.push_back(number(layer.same));
  }
  return render_columns(columns, style);
}

nlohmann::ordered_json json_of(const LayerSum& sum) {
  nlohmann::ordered_json json{{"layer", sum.name},
                              {"entries", sum.entries},
                              {"files", sum.files},
                              {"bytes", sum.bytes},
                              {"damaged", sum.damaged}};
  if (sum.files > 0) {
    json["first_written"] = iso_time(sum.first_ns);
    json["last_written"] = iso_time(sum.last_ns);
  }
  return json;
}

nlohmann::ordered_json json_of(const std::vector<Finding>& findings) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const Finding& finding : findings) {
    json.push_back({{"path", finding.path}, {"layer", finding.layer}, {"what", finding.what}});
  }
  return json;
}

nlohmann::ordered_json json_of(const std::vector<Value>& values) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const Value& value : values) {
    json.push_back({{"value", value.value}, {"files", value.files}});
  }
  return json;
}

nlohmann::ordered_json json_of(const Writers& writers) {
  nlohmann::ordered_json torch = nlohmann::ordered_json::array(), environments = nlohmann::ordered_json::array();
  for (const Writer& writer : writers.torch) {
    torch.push_back({{"sources", writer.sources},
                     {"torch", writer.torch},
                     {"torch_git", writer.torch_git},
                     {"torch_cuda", writer.torch_cuda},
                     {"triton", writer.triton},
                     {"gpu", writer.gpu},
                     {"files", writer.files},
                     {"first_written", iso_time(writer.first_ns)},
                     {"last_written", iso_time(writer.last_ns)}});
  }
  for (const Environment& environment : writers.environments) {
    environments.push_back({{"path", environment.now.folder},
                            {"named_by_files", environment.files},
                            {"there", environment.now.there},
                            {"torch", environment.now.torch},
                            {"torch_git", environment.now.git},
                            {"triton", environment.now.triton},
                            {"wrote", environment.wrote},
                            {"recorded", environment.now.has_record},
                            {"patched", environment.now.patched}});
  }
  return {{"torch", torch},
          {"environments", environments},
          {"triton", json_of(writers.triton)},
          {"python", json_of(writers.pythons)},
          {"cuda_tools", json_of(writers.cuda_tools)},
          {"ptx", json_of(writers.ptx)},
          {"compiler", json_of(writers.compilers)},
          {"gpu", json_of(writers.gpus)},
          {"written_at", json_of(writers.written_at)},
          {"owner", json_of(writers.owners)}};
}

} // namespace

std::string render_show(const LookedAt& cache, const Style& style) {
  const Inspection& inspection = cache.inspection;
  const LayerSum& total = inspection.total;
  std::string text = head_of(cache, style);
  if (!cache.copy_of.empty()) {
    text += block("copy of", cache.copy_of, style);
  }
  if (total.files == 0) {
    return text + block("holds", "nothing", style);
  }
  text += block("holds",
                fmt::format("{}: {} and {}, {}", holds_text(inspection), bytes_text(total.bytes),
                            entries_text(total.entries), files_text(total.files)),
                style);
  text += block("written", span_text(total.first_ns, total.last_ns) + " UTC by " + values_text(cache.writers.owners),
                style);
  text += writers_text(cache.writers, style);
  text += "\n" + layers_table(inspection, style);
  if (!inspection.damage.empty() || !cache.manifest.empty()) {
    text += "\n  " + paint(style, Color::red, "damaged") + "\n" +
            findings_text(inspection.damage, k_shown, style, Color::red);
    for (const std::string& what : cache.manifest) {
      text += "    " + printable(what) + "\n";
    }
  }
  if (!inspection.remarks.empty()) {
    text += "\n  " + paint(style, Color::yellow, "odd, and no damage") + "\n" +
            findings_text(inspection.remarks, k_few, style, Color::yellow);
  }
  return text;
}

std::string summary_of(const LookedAt& before, const LookedAt& after) {
  const LayerSum &old = before.inspection.total, &now = after.inspection.total;
  std::string text = fmt::format("{} and {} before, {} and {} after", bytes_text(old.bytes), entries_text(old.entries),
                                 bytes_text(now.bytes), entries_text(now.entries));
  if (now.files == 0) {
    return text + (old.files == 0 ? "" : ", everything is gone");
  }
  const bool refilled = old.files > 0 && now.first_ns > old.last_ns;
  return text + ", " + (refilled ? "every file newer than all before, " : "") +
         cache::compare_writers(before.writers, after.writers);
}

std::string render_diff(const LookedAt& before, const LookedAt& after, const cache::Difference& difference,
                        bool all_files, const Style& style) {
  std::string text;
  for (const std::string& line : report::wrap(printable(summary_of(before, after)), report::width_of(style), 6)) {
    text += paint(style, Color::bold, line) + "\n";
  }
  text += "\n" + block("before", side(before), style) + block("after", side(after), style);
  text += "\n" + differences_table(difference, style);
  for (const auto& [what, sign, color] : {std::tuple("more", "+", Color::green), std::tuple("less", "-", Color::red),
                                          std::tuple("changed", "~", Color::yellow)}) {
    std::size_t n = 0;
    for (const Finding& file : difference.files) {
      n += file.what == what ? 1 : 0;
      if (file.what == what && (all_files || n <= k_few)) {
        text += (n == 1 ? "\n" : "") + paint(style, color, fmt::format("  {} {}", sign, printable(file.path))) + "\n";
      }
    }
    if (!all_files && n > k_few) {
      text += fmt::format("  {} {} more (--files lists them)\n", sign, n - k_few);
    }
  }
  for (const LookedAt* cache : {&before, &after}) {
    if (!is_whole(*cache)) {
      text += "\n" + printable(cache->name) + ": " + files_text(cache->inspection.total.damaged) +
              " damaged (racelab cache verify)\n";
    }
  }
  return text;
}

bool is_whole(const LookedAt& cache) {
  return cache.inspection.damage.empty() && cache.manifest.empty();
}

std::string render_verify(const LookedAt& cache, const Style& style) {
  const Inspection& inspection = cache.inspection;
  std::string text = head_of(cache, style);
  if (is_whole(cache)) {
    text += block("whole",
                  fmt::format("all that can be checked of {} and {}", entries_text(inspection.total.entries),
                              files_text(inspection.total.files)),
                  style, Color::green);
  } else {
    text += block("damaged", fmt::format("{} of {}", damaged_paths(inspection), files_text(inspection.total.files)),
                  style, Color::red);
    text += findings_text(inspection.damage, inspection.damage.size(), style, Color::red);
    for (const std::string& what : cache.manifest) {
      text += "    " + printable(what) + "\n";
    }
  }
  text += checked_text(inspection, style);
  if (!inspection.remarks.empty()) {
    text += block("odd", "and no damage:", style) + findings_text(inspection.remarks, k_shown, style, Color::yellow);
  }
  return text;
}

std::string render_list(const std::vector<cache::Kept>& all, const Style& style) {
  if (all.empty()) {
    return "no snapshots (racelab cache snapshot DIR NAME makes one)\n";
  }
  std::vector<Column> columns{
      {"name", true, {}}, {"made (UTC)", true, {}}, {"files", false, {}}, {"size", false, {}}, {"of", true, {}}};
  for (const cache::Kept& kept : all) {
    columns[0].cells.push_back(kept.name);
    columns[1].cells.push_back(
        printable(kept.made.substr(0, 10) + " " + (kept.made.size() > 11 ? kept.made.substr(11, 8) : "")));
    columns[2].cells.push_back(std::to_string(kept.files));
    columns[3].cells.push_back(bytes_text(kept.bytes));
    columns[4].cells.push_back((kept.for_scenario ? "scenario: " : "") + printable(kept.from));
  }
  return render_columns(columns, style);
}

nlohmann::ordered_json to_json(const LookedAt& cache) {
  const Inspection& inspection = cache.inspection;
  nlohmann::ordered_json layers = nlohmann::ordered_json::array(), checked;
  for (const LayerSum& sum : inspection.layers) {
    layers.push_back(json_of(sum));
  }
  const std::pair<Checked, const char*> names[] = {
      {Checked::exactly, "exactly"}, {Checked::by_form, "by_form"}, {Checked::not_at_all, "not_at_all"}};
  for (const auto& [how, name] : names) {
    const auto at = inspection.checked.find(how);
    checked[name] = at == inspection.checked.end() ? 0 : at->second;
  }
  return {{"name", cache.name},
          {"copy_of", cache.copy_of},
          {"folder", inspection.folder},
          {"holds", inspection.holds},
          {"whole", is_whole(cache)},
          {"total", json_of(inspection.total)},
          {"layers", layers},
          {"writers", json_of(cache.writers)},
          {"damage", json_of(inspection.damage)},
          {"not_as_kept", cache.manifest},
          {"remarks", json_of(inspection.remarks)},
          {"checked", checked},
          {"unchecked", inspection.unchecked}};
}

nlohmann::ordered_json to_json(const LookedAt& before, const LookedAt& after, const cache::Difference& difference) {
  nlohmann::ordered_json layers = nlohmann::ordered_json::array(), files = nlohmann::ordered_json::array();
  const auto counts = [](const LayerDifference& layer) {
    return nlohmann::ordered_json{{"layer", layer.name},
                                  {"more", layer.more},
                                  {"less", layer.less},
                                  {"changed", layer.changed},
                                  {"same", layer.same}};
  };
  for (const LayerDifference& layer : difference.layers) {
    layers.push_back(counts(layer));
  }
  for (const Finding& file : difference.files) {
    files.push_back({{"path", file.path}, {"layer", file.layer}, {"what", file.what}});
  }
  return {{"summary", summary_of(before, after)}, {"before", to_json(before)}, {"after", to_json(after)},
          {"total", counts(difference.total)},    {"layers", layers},          {"files", files}};
}

} // namespace racelab::cli
