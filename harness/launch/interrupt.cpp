#include "launch/interrupt.h"

#include <atomic>
#include <csignal>

#include <unistd.h>

namespace racelab::launch {

namespace {

std::atomic<int> g_interrupts{0};

void on_signal(int) {
  if (g_interrupts.fetch_add(1) + 1 >= 2) {
    // Trials and fork servers die with this process (closed channel, PR_SET_PDEATHSIG).
    constexpr char text[] = "\nracelab: stopped at once; finished trials are in the output folder\n";
    const ssize_t ignored = write(2, text, sizeof text - 1);
    static_cast<void>(ignored);
    _exit(130);
  }
}

} // namespace

void install_interrupt_handlers() {
  struct sigaction action {};
  action.sa_handler = on_signal; // without SA_RESTART, so that waiting calls return
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  signal(SIGPIPE, SIG_IGN);
}

int interrupts() {
  return g_interrupts.load();
}

void request_interrupt() {
  g_interrupts.fetch_add(1);
}

} // namespace racelab::launch
