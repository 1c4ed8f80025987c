"""Breaks a server's CPU time down by purpose, from `perf script -F comm,ip,sym`: each sample counts for the first
purpose that matches a frame of its stack, from the innermost frame outwards.
"""

import collections
import re
import sys

# In this order: a commit runs SQLite, a command runs a commit's statements, and both may write JSON.
PURPOSES = [
    ("JSON", r"JSON|Codable|Encoder|Decoder|ISO8601|Dictionary.*Coding"),
    ("commit", r"sqlite3.*(Commit|Sync|Wal|wal)|fdatasync|fsync|ext4_sync|sqlite3PagerCommit|walWrite|BtreeCommit"),
    ("command", r"sqlite3|GRDB|CallCommands|StoreTransaction|5Calls|7Storage|8Accounts"),
    ("socket", r"tcp_|sock_|epoll|__sys_send|__sys_recv|writev|NIOPosix|NIOWebSocket|NIOCore|8Realtime|inet_"),
]


def purpose(stack: list[str]) -> str:
    for symbol in stack:
        for name, pattern in PURPOSES:
            if re.search(pattern, symbol):
                return name
    return "other"


def main() -> None:
    counts: collections.Counter[str] = collections.Counter()
    leaves: collections.Counter[str] = collections.Counter()
    stack: list[str] = []
    for line in sys.stdin:
        if line.strip() == "":
            if stack:
                counts[purpose(stack)] += 1
                leaves[stack[0]] += 1
            stack = []
        elif line[0].isspace():
            stack.append(line.strip().split(" ", 1)[-1])
    total = sum(counts.values()) or 1
    print(f"what the server's CPU time went to ({total} samples):")
    for name, count in counts.most_common():
        print(f"  {name:<10}{100 * count / total:5.1f} %")
    print("the functions that took most:")
    for name, count in leaves.most_common(25):
        print(f"  {100 * count / total:5.1f} %  {name[:110]}")


if __name__ == "__main__":
    main()
