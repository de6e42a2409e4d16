//! GET /hello by std.http.Server, with request, idle and write timeouts on. In Zig 0.17 only the threaded form of
//! std.Io has networking, so that a connection has a thread.

const std = @import("std");
const linux = std.os.linux;
const Io = std.Io;

const Config = @import("Config.zig");
const connection = @import("connection.zig");

const stack_size = 64 * 1024;
const backlog = 4096;
/// Without descriptors or memory another accept is pointless until something has closed.
const accept_pause: Io.Duration = .fromMilliseconds(100);

pub fn main(init: std.process.Init) !void {
    const config: Config = try .fromEnvironment(init.environ_map);
    // Blocked before there are threads: they inherit it, and the signals wait for whoever asks.
    const signals = blockSignals();

    var threaded: Io.Threaded = .init(init.gpa, .{ .stack_size = stack_size });
    defer threaded.deinit();
    const io = threaded.io();
    raiseFileLimit();

    // SO_REUSEPORT is among what reuse_address sets: processes share the port.
    var server = try config.address.listen(io, .{ .reuse_address = true, .kernel_backlog = backlog });
    defer server.deinit(io);
    std.log.info("listening on {f}", .{config.address});

    var connections: Io.Group = .init;
    defer connections.cancel(io);
    var accepting = try io.concurrent(accept, .{ io, &server, &connections, &config });
    defer accepting.cancel(io);
    waitFor(&signals);
}

fn accept(io: Io, server: *Io.net.Server, connections: *Io.Group, config: *const Config) void {
    while (true) {
        const stream = server.accept(io) catch |failure| switch (failure) {
            error.Canceled => return,
            else => {
                io.sleep(accept_pause, .awake) catch return;
                continue;
            },
        };
        connections.concurrent(io, connection.serve, .{ io, stream, config }) catch stream.close(io);
    }
}

fn blockSignals() linux.sigset_t {
    var set = linux.sigemptyset();
    linux.sigaddset(&set, .TERM);
    linux.sigaddset(&set, .INT);
    _ = linux.sigprocmask(linux.SIG.BLOCK, &set, null);
    return set;
}

fn waitFor(signals: *const linux.sigset_t) void {
    const fd: i32 = @intCast(linux.signalfd(-1, signals, 0));
    var told: linux.signalfd_siginfo = undefined;
    while (linux.errno(linux.read(fd, std.mem.asBytes(&told), @sizeOf(linux.signalfd_siginfo))) == .INTR) {}
}

/// Raises the soft limit of open files to the hard one, for each connection is a file.
fn raiseFileLimit() void {
    var limit = std.posix.getrlimit(.NOFILE) catch return;
    limit.cur = limit.max;
    // Without it the process serves as many as it may.
    std.posix.setrlimit(.NOFILE, limit) catch {};
}
