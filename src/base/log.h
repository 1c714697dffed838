// Writes log lines to stderr: "tutti: [rank N] level: message". Each line is one write(2), so the
// lines of many ranks that share a terminal or a pipe do not mix.
//
// The level and the rank belong to the process (thread ranks of the native API share them) and may
// be set and read by any thread. Nothing here is on the path of a collective call, and nothing may
// be called from a signal handler. This file reads no environment: options() sets the level
// that TUTTI_LOG gives.
#pragma once

#include <string>

namespace tutti {

enum class LogLevel : int { error, warning, info, debug };

// Lines above this level are dropped. The level starts as warning.
void set_log_level(LogLevel level);
bool log_enabled(LogLevel level);

// Sets the rank in MPI_COMM_WORLD for the prefix. A negative rank, as at the start, leaves the rank
// out.
void set_log_rank(int rank);

// Writes one line. Control characters become spaces and a line is cut at PIPE_BUF bytes, up to
// which a write to a pipe is atomic. errno is kept.
[[gnu::format(printf, 2, 3)]] void log_line(LogLevel level, const char* format, ...);

// The same, but writes only the first line of each key that passes the level.
[[gnu::format(printf, 3, 4)]] void log_once(const std::string& key, LogLevel level,
                                            const char* format, ...);

// Call this after a job's last lines and before aborting the job: MPICH's launcher drops output
// that it has not read when a process aborts the job. Takes 0.2 s.
void let_launcher_read();

}  // namespace tutti
