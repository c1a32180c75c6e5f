/* The C interface of racelab's agent, for native programs and for the Python side of the agent.
 *
 * A program that links libracelab_agent.so runs unchanged without racelab: every call then returns at once. Under
 * racelab (the environment variable RACELAB_BOARD names the trial's board) the calls below make the calling thread an
 * actor that passes named points in the order the scenario asks for.
 *
 *     int enter = racelab_point_id("cache.publish.enter");   // once; -1: this trial does not use the point
 *     racelab_actor("writer0");                               // once per thread
 *     racelab_point(enter);                                   // may wait for this thread's turn
 *
 * All functions are thread-safe; none sets errno or throws.
 */
#ifndef RACELAB_H
#define RACELAB_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RACELAB_API __attribute__((visibility("default")))

/* Maps the trial's board. Called by every other function when needed. 1: under racelab; 0: not; -1: RACELAB_BOARD is
 * set but the board cannot be mapped, for the reason that racelab_error() gives. */
RACELAB_API int racelab_attach(void);
RACELAB_API const char* racelab_error(void);

/* The number of this process among those of the trial that have an agent, in the order in which they began, from 0; -1
 * outside racelab. */
RACELAB_API int racelab_process(void);

/* Names the calling thread. Called again it changes the name: the old actor ends. Returns the actor's number or -1. The
 * actor ends with the thread, or with racelab_actor_end(). */
RACELAB_API int racelab_actor(const char* name);
RACELAB_API void racelab_actor_end(void);
/* The calling thread's actor number (named after the system's thread name if it had none yet), or -1 outside racelab.
 */
RACELAB_API int racelab_current_actor(void);

/* The number of a point ("cache.publish.enter") or lock ("compile_lock"); -1 if this trial does not use it. */
RACELAB_API int racelab_point_id(const char* name);
RACELAB_API int racelab_lock_id(const char* name);

/* Passes a point: returns the event's index in the trial's log, or -1 (not under racelab, point -1, log full). */
RACELAB_API int64_t racelab_point(int point);

/* Reports tokens produced by the calling thread since its last report. */
RACELAB_API void racelab_tokens(int64_t count);

/* Around a lock that racelab should know: wanted before asking for it, then taken or not_taken, and released before it
 * is let go. They never block. Recursive locks may be taken repeatedly. */
RACELAB_API void racelab_lock_wanted(int lock);
RACELAB_API void racelab_lock_taken(int lock);
RACELAB_API void racelab_lock_not_taken(int lock);
RACELAB_API void racelab_lock_released(int lock);

/* Counts a fact that could not be written, so that the trial's record says so. */
RACELAB_API void racelab_fact_lost(void);

#ifdef __cplusplus
}
#endif

#endif
