// Log lines on stderr: "tutti: [rank N] level: message", one write(2) a line, so that the lines of
// many ranks that share a terminal or a pipe do not tear.
//
// The level and the rank belong to the process (thread ranks of the native face share them) and may
// be set and read by any thread. Nothing here is on the path of a collective call, and nothing may
// be called from a signal handler. This part reads no environment: options() hands the level of
// TUTTI_LOG over.
#pragma once

#include <string>

namespace tutti {

enum class LogLevel : int { error, warning, info, debug };

// Lines above this level are dropped. At the start: warning.
void set_log_level(LogLevel level);
bool log_enabled(LogLevel level);

// The rank in MPI_COMM_WORLD, for the prefix; negative (the start): no rank in the prefix.
void set_log_rank(int rank);

// Writes one line. Control characters become spaces and a line is cut at PIPE_BUF bytes, up to
// which a write to a pipe is atomic. errno is kept.
[[gnu::format(printf, 2, 3)]] void log_line(LogLevel level, const char* format, ...);

// As log_line, but only for the first line of each key that the level lets through.
[[gnu::format(printf, 3, 4)]] void log_once(const std::string& key, LogLevel level,
                                            const char* format, ...);

// To be called after a job's last lines and before what ends it: launchers pass on what their
// processes wrote, and MPICH's forgets what it has not read when a process aborts the job. Takes
// 0.2 s.
void let_launcher_read();

}  // namespace tutti
