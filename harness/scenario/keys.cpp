#include "scenario/keys.h"

#include "scenario/cache_states.h"

#include <limits>

namespace racelab::scenario {

namespace {

constexpr std::uint64_t k_second = 1000;
constexpr std::uint64_t k_day = 86'400 * k_second;
constexpr std::uint64_t k_max_gpus = 1024;

Key required(std::string name, Shape shape, std::string doc) {
  return {std::move(name), std::move(shape), std::move(doc), "", true};
}

Key optional(std::string name, Shape shape, std::string doc, std::string fallback = "") {
  return {std::move(name), std::move(shape), std::move(doc), std::move(fallback), false};
}

Shape one_or_more(const Shape& item) {
  return either({item, unique_list_of(item)});
}

Shape environment() {
  return map_of(Format::environment_name, text(Format::any), 0);
}

Shape pipeline() {
  return object({
      required("command", either({text(), list_of(text(Format::any))}),
               "The command line: a list of words, or one text that is split as a shell would. `python` as the first "
               "word is "
               "the toolkit's interpreter; {layout.ROLE} and {scenario.dir} are replaced."),
      optional("cwd", text(), "The working directory, relative to the folder of the scenario file.", "."),
      optional("env", environment(), "Environment variables that are added to the clean environment of a trial.", "{}"),
  });
}

constexpr const char* k_by_the_program = "the program passes it itself, through the C interface";

Shape points() {
  Shape place = object({
      optional("at", text(Format::attribute), "The function, as MODULE:ATTRIBUTE; __main__ is the program itself.",
               k_by_the_program),
      optional("line", text(Format::line_place), "A line, as FILE:NUMBER; the event comes before it runs."),
      optional("kind", words({"region", "event"}),
               "Of a point that the program passes itself: a region with enter and exit, or one event of this name.",
               "region"),
  });
  place.max_items = 1;
  return map_of(Format::point_name, either({text(Format::attribute), std::move(place)}), 0);
}

Shape locks() {
  Shape place = object({
      optional("at", text(Format::attribute),
               "The lock, as MODULE:ATTRIBUTE; MODULE:CLASS.ATTRIBUTE for one made per instance.", k_by_the_program),
  });
  return map_of(Format::point_name, either({text(Format::attribute), std::move(place)}), 0);
}

Shape actors() {
  constexpr std::uint64_t k_max_threads = 100'000;
  Shape rule = object({
      optional("thread", text(), "The thread's own name; `*` and `?` stand for other letters.", "any"),
      optional("entry", text(Format::attribute), "The function that the thread runs, as MODULE:FUNCTION.", "any"),
      optional("process", text(),
               "VARIABLE=VALUE of the process's environment, a pattern of its command line, or its number.", "any"),
      optional("start", integer(0, k_max_threads),
               "Only the n-th thread that fits, from 0, in the order in which threads are started.", "every one"),
  });
  rule.min_items = 1;
  return map_of(Format::actor_name, std::move(rule), 0);
}

// Of a scenario::NumbersSource, and `more`. `what` is the number, `whose` it is without `actor`.
Shape numbers_source(const std::string& what, const std::string& whose, Key more) {
  constexpr std::uint64_t k_max_groups = 99;
  return object({
      optional("at", text(Format::attribute), "The function whose result is " + what + "."),
      optional("value", text(Format::value_path),
               "The part of the result: attributes, keys and indexes, joined by dots.", "the result itself"),
      optional("output", text(Format::regex),
               "A line of stdout or stderr that matches this ECMAScript regular expression has " + what + "."),
      optional("number", integer(1, k_max_groups), "The group of `output` that is the number.", "1"),
      optional("actor", integer(1, k_max_groups), "The group of `output` that is the actor's name.", whose),
      std::move(more),
  });
}

Shape tokens() {
  return numbers_source("the number of tokens that were processed", "a line speaks of all actors",
                        optional("is", words({"count", "rate"}),
                                 "Whether the number counts tokens since the line before, or is in tokens/s.",
                                 "count"));
}

Shape results() {
  return numbers_source("a number that is compared with a serial run's", "of nobody",
                        optional("tolerance", positive_number(),
                                 "How far apart two results may be, as a part of the larger.", "0.00001"));
}

Shape own_faults() {
  return map_of(Format::point_name,
                object({required("output", text(Format::regex),
                                 "A line of stdout or stderr that matches this ECMAScript regular expression.")}),
                0);
}

Shape protections() {
  return object({optional("dead_thread_guard", words({"true", "false"}),
                          "Without a GPU the main thread makes torch's device guard, which otherwise is used after the "
                          "thread that made it has ended (pytorch#178950).",
                          "true")});
}

Shape damage(const Vocabulary& vocabulary) {
  constexpr std::uint64_t k_any_seed = std::numeric_limits<std::uint64_t>::max();
  return object({
      required("layer", reference(NameKind::cache_layer), "The layer whose files are damaged."),
      required("how", vocabulary.damage_kinds.empty() ? text(Format::name) : words(vocabulary.damage_kinds),
               "The kind of damage."),
      optional("files", text(), "Only files whose path below the cache folder matches; `**` stands for any folders.",
               "all of the layer"),
      optional("count", integer(0, k_max_items), "How many files, chosen by the seed; 0 means all.", "1"),
      optional("seed", integer(0, k_any_seed), "Chooses files, bits and bytes.", "0"),
  });
}

Shape cache_directories() {
  Shape directory = object({
      required("variable", text(Format::environment_name), "The variable that tells the pipeline where it is."),
      optional("layers", map_of(Format::name, one_or_more(text())),
               "Kinds of entries: a name to patterns of paths below the directory.", "one of the directory's name"),
      optional("hit", reference(NameKind::event), "An event whose passes count as look-ups that hit."),
      optional("miss", reference(NameKind::event), "An event whose passes count as look-ups that missed."),
  });
  return map_of(Format::name, either({text(Format::environment_name), std::move(directory)}), 0);
}

// The plain names are defined in cache_states.cpp.
Shape caches(const Vocabulary& vocabulary) {
  constexpr std::uint64_t k_max_copies = 16;
  const Shape layer = reference(NameKind::cache_layer);
  const Shape harm = damage(vocabulary);
  Shape state = object({
      required("from", words({"cold", "warm"}), "What the state is made from: nothing, or what a serial run filled."),
      optional("without", one_or_more(layer), "Layers that are taken out.", "none"),
      optional("corrupt", either({harm, list_of(harm)}), "Damage to files.", "none"),
      optional("filled_by", text(), "The toolkit whose serial run fills it; `*` is another than the cell's.",
               "the cell's toolkit"),
      optional("forge",
               object({required("layer", layer, "The layer whose entries get other content."),
                       required("by", text(), "The toolkit that wrote the content; `*` is another than the cell's.")}),
               "Entries under the cell's keys with another toolkit's content.", "none"),
      optional("left_behind", unique_list_of(words({"lock", "temporary"})), "What a process that died leaves.", "none"),
      optional("read_only", words({"true", "false"}), "Nothing can be written, by root neither.", "false"),
      optional("quota", text(Format::bytes), "Room for that much and no more.", "no limit"),
      optional("vanish_at", text(Format::event),
               "All is removed when this event is passed, by its actor; `*` is whichever actor comes first.", "never"),
      optional("shared", integer(2, k_max_copies), "That many processes of the pipeline run at once on it.", "1"),
  });
  return either({unique_list_of(words(plain_cache_states())), map_of(Format::name, std::move(state))});
}

Shape layout() {
  Shape shape = map_of(Format::point_name, list_of(integer(0, k_max_gpus - 1)), 0);
  shape.keys = {optional("require",
                         object({required("gpus", integer(1, k_max_gpus),
                                          "With fewer GPUs at hand the cell is skipped, with the reason.")}),
                         "What the machine must have.", "nothing: logical GPUs are folded onto those there are")};
  return shape;
}

Shape interleaving() {
  constexpr int k_max_orders = 16384; // edges on the board
  Shape partial = object({
      optional("edges", list_of(text(Format::order), 1, k_max_orders),
               "A partial order: `EVENT < EVENT`, or longer chains."),
      optional("serialize", one_or_more(reference(NameKind::region)),
               "Regions that no two actors may be inside of at once."),
  });
  partial.min_items = partial.max_items = 1;
  Shape deed = map_of(Format::event, words({"kill"}), 1);
  deed.max_items = 1;
  return either({list_of(either({text(Format::event), std::move(deed)})), std::move(partial), words({"none"})});
}

Shape mitigation() {
  return object({
      optional("env", environment(), "Environment variables to add.", "{}"),
      optional("config", map_of(Format::dotted_path, scalar(), 0),
               "Dotted paths of module attributes, set as soon as the module is imported.", "{}"),
  });
}

Shape toolkit_features(const Vocabulary& vocabulary) {
  if (vocabulary.features.empty())
    return map_of(Format::point_name, one_or_more(text(Format::any)));
  std::vector<Key> keys;
  for (const auto& [feature, values] : vocabulary.features)
    keys.push_back(optional(feature, one_or_more(words(values)), "A feature found by looking at the toolkit."));
  Shape shape = object(std::move(keys));
  shape.key_noun = "feature";
  shape.min_items = 1;
  return shape;
}

// The cells that a rule speaks about.
Shape when(const Vocabulary& vocabulary) {
  const auto names = [](NameKind kind) { return one_or_more(reference(kind)); };
  Shape toolkit = either({text(Format::name), unique_list_of(text(Format::name)), toolkit_features(vocabulary)});
  Shape shape = object({
      optional("cache", names(NameKind::cache), "Cache states.", "all"),
      optional("layout", names(NameKind::layout), "Layouts.", "all"),
      optional("interleaving", names(NameKind::interleaving), "Interleavings.", "all"),
      optional("mitigation", names(NameKind::mitigation), "Mitigations.", "all"),
      optional("toolkit", std::move(toolkit), "Toolkits by name, or a map from feature to accepted values.", "all"),
  });
  shape.min_items = 1;
  return shape;
}

Shape matrix(const Vocabulary& vocabulary) {
  const auto axis = [](NameKind kind) { return one_or_more(reference(kind)); };
  return object({
      optional("toolkits", one_or_more(text(Format::name)), "Toolkits by name.", "[current]"),
      optional("caches", axis(NameKind::cache), "Cache states to cover.", "all of the file"),
      optional("layouts", axis(NameKind::layout), "Layouts to cover.", "all of the file"),
      optional("interleavings", axis(NameKind::interleaving), "Interleavings to cover.", "all of the file"),
      optional("mitigations", axis(NameKind::mitigation), "Mitigations to cover.", "all of the file"),
      optional("exclude", list_of(when(vocabulary), 0), "Cells to leave out; a rule has the keys of `when`.", "[]"),
  });
}

Shape trials(const Vocabulary& vocabulary) {
  const Shape count = integer(1, k_max_trials);
  Shape rule = object({
      required("when", when(vocabulary), "The cells that the rule speaks about."),
      required("trials", count, "Trials of each of them."),
  });
  Shape by_cell = object({
      optional("default", count, "Trials of a cell that no rule matches.", "3"),
      optional("where", list_of(std::move(rule), 0), "Rules; a later one that matches wins.", "[]"),
  });
  return either({count, std::move(by_cell)});
}

Shape expect(const Vocabulary& vocabulary) {
  Shape faults = map_of(Format::name, words({"always", "never", "sometimes", "any"}));
  faults.keys_refer_to = NameKind::fault_kind;
  Shape bound = object({required("at_least", positive_number(), "The lowest median that is accepted, in tokens/s.")});
  return list_of(
      object({
          optional("when", when(vocabulary), "The cells that the rule speaks about.", "all cells"),
          optional("status", one_or_more(words({"realised", "unreachable", "impossible", "diverged"})),
                   "What may become of the interleaving.", "not said"),
          optional("faults", std::move(faults), "Fault kind to how often it is expected in the trials of a cell.",
                   "never, for each kind"),
          optional("tokens_per_s", map_of(Format::text, std::move(bound)),
                   "An actor, or `total`, to its bound in tokens/s.", "not said"),
      }),
      0);
}

} // namespace

Shape scenario_shape(const Vocabulary& vocabulary) {
  constexpr std::uint64_t k_any_seed = std::numeric_limits<std::uint64_t>::max();
  return object({
      required("racelab", integer(k_format_version, k_format_version), "The version of the file format."),
      required("name", text(Format::name), "The name of the scenario in reports, paths and the history."),
      optional("about", text(), "What the scenario shows, for people."),
      required("pipeline", pipeline(), "The program under test."),
      optional("points", points(),
               "Sync points on code of the pipeline: NAME gives the events NAME.enter and NAME.exit.", "{}"),
      optional("locks", locks(),
               "Locks of the pipeline: NAME gives the events NAME.wanted, NAME.taken and NAME.released.", "{}"),
      optional("actors", actors(), "Which threads are which actors.", "each thread under its own name"),
      optional("tokens", tokens(), "Where tokens/s come from.", "the pipeline reports them itself"),
      optional("record", unique_list_of(reference(NameKind::recordable)),
               "Regions, locks and events that are logged in every trial, whatever the interleaving.", "none"),
      optional("faults", own_faults(), "Fault kinds of the scenario's own, seen in the pipeline's output.", "{}"),
      optional("protect", protections(), "What the agent keeps out of trials because every trial could meet it.",
               "everything"),
      optional("results", results(), "Numbers that must be those of a serial run with a cold cache.", "not compared"),
      optional("cache_directories", cache_directories(), "Cache directories of the pipeline's own.", "{}"),
      optional("serial", one_or_more(reference(NameKind::region)),
               "Regions inside of which one actor at a time is, in the serial run that fills a warm cache.",
               "the call that makes tokens, or the compiled call"),
      optional("caches", caches(vocabulary),
               "Cache states: a list of kinds, or a map from name to what it is made from.", "[cold]"),
      optional("layouts", map_of(Format::name, layout()), "Layout name to role to logical GPUs, in actor order.",
               "one layout `none` without roles"),
      optional("interleavings", map_of(Format::name, interleaving()),
               "Interleaving name to a list of events in order, a partial order, regions to serialize, or none.",
               "{free: none}"),
      optional("mitigations", map_of(Format::name, mitigation()), "Mitigation name to the changes it makes.",
               "{none: {}}"),
      optional("matrix", matrix(vocabulary), "The combinations to cover.", "all names of the file"),
      optional("trials", trials(vocabulary), "How many trials each cell has.", "3"),
      optional("time_limit", duration(100, k_day), "The longest a trial may take.", "120s"),
      optional("quiet_time", duration(10, 600 * k_second),
               "How long all threads must be asleep before the schedule, or the trial, counts as stuck.", "300ms"),
      optional("launch", words({"fork_server", "fresh"}),
               "Trials are forked from a server that has imported everything, or each starts a new interpreter.",
               "fork_server"),
      optional("seed", integer(0, k_any_seed), "The seed of all random choices.", "0"),
      optional("expect", expect(vocabulary), "What each cell is expected to do; a later rule overrides key by key.",
               "no fault"),
  });
}

} // namespace racelab::scenario
