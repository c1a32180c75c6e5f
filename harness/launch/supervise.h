#pragma once
// The supervisor of a freshly started trial: a small process between racelab and the pipeline that inherits whatever
// the pipeline leaves behind (PR_SET_CHILD_SUBREAPER), kills it when the pipeline ends, and dies with racelab.
//
// It is this very program, run as `racelab --supervise CHANNEL BOARD OUT ERR DIRECTORY PROGRAM ARGS…` (descriptors by
// number). It speaks the fork server's protocol.

namespace racelab::launch {

// The body of that run. argv as main() got it; argv[1] is "--supervise".
int supervise_main(int argc, char** argv);

} // namespace racelab::launch
