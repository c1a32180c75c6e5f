#pragma once
// Ctrl-C and SIGTERM: the first asks the run to stop and report what it has, the second ends the program at once.

namespace racelab::launch {

// Installs the handlers, once, in the main program.
void install_interrupt_handlers();
// How often the user asked.
int interrupts();
// For tests.
void request_interrupt();

} // namespace racelab::launch
