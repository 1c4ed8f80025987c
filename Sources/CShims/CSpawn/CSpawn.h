// What starting programs needs beyond POSIX, for Providers alone.
//
// _GNU_SOURCE is not defined, and nothing included: it would give glibc's own types definitions beside those of Swift's
// Glibc module. What only it declares is declared here.
#ifndef SWITCHBOARD_CSPAWN_H
#define SWITCHBOARD_CSPAWN_H

// Of glibc 2.34, which is in Debian 12. The first is a posix_spawn_file_actions_t.
extern int posix_spawn_file_actions_addclosefrom_np(void *actions, int first);
extern int pipe2(int ends[2], int flags);
// Both limits are a struct rlimit.
extern int prlimit(int pid, int resource, const void *limit, void *previous);

#endif
