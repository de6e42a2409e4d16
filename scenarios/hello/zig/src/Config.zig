//! The settings, from the environment.

const std = @import("std");
const Io = std.Io;

const Config = @This();

address: Io.net.IpAddress,
request_timeout: Io.Duration,
idle_timeout: Io.Duration,
write_timeout: Io.Duration,

/// Reads HOST, PORT and the timeouts; what is wrong with one goes to standard error.
pub fn fromEnvironment(environment: *const std.process.Environ.Map) error{InvalidSetting}!Config {
    const host = environment.get("HOST") orelse "127.0.0.1";
    const port = try whole(u16, environment, "PORT", 8080);
    return .{
        .address = Io.net.IpAddress.parse(host, port) catch {
            std.log.err("HOST={s}: give an address", .{host});
            return error.InvalidSetting;
        },
        .request_timeout = .fromMilliseconds(try whole(u32, environment, "REQUEST_TIMEOUT_MS", 10_000)),
        .idle_timeout = .fromMilliseconds(try whole(u32, environment, "IDLE_TIMEOUT_MS", 60_000)),
        .write_timeout = .fromMilliseconds(try whole(u32, environment, "WRITE_TIMEOUT_MS", 10_000)),
    };
}

fn whole(
    comptime T: type,
    environment: *const std.process.Environ.Map,
    name: []const u8,
    otherwise: T,
) error{InvalidSetting}!T {
    const text = environment.get(name) orelse return otherwise;
    return std.fmt.parseInt(T, text, 10) catch {
        std.log.err("{s}={s}: give a whole number", .{ name, text });
        return error.InvalidSetting;
    };
}
