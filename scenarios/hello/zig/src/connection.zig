//! One connection: requests in, responses out, until either side ends it.

const std = @import("std");
const http = std.http;
const Io = std.Io;

const Config = @import("Config.zig");
const TimedStream = @import("TimedStream.zig");

/// A request's head may be no longer.
const max_head = 8 * 1024;

pub fn serve(io: Io, stream: Io.net.Stream, config: *const Config) void {
    defer stream.close(io);
    var read_buffer: [max_head]u8 = undefined;
    var write_buffer: [512]u8 = undefined;
    var timed: TimedStream = .init(io, stream, config.write_timeout, &read_buffer, &write_buffer);
    var server: http.Server = .init(&timed.reader, &timed.writer);
    while (true) {
        if (timed.reader.bufferedLen() == 0) {
            timed.read_timeout = .{ .duration = .{ .raw = config.idle_timeout, .clock = .awake } };
            timed.reader.fillMore() catch return;
        }
        // From a request's first byte on, one deadline holds for all that remains of it.
        timed.read_timeout = .{ .deadline = .fromNow(io, .{ .raw = config.request_timeout, .clock = .awake }) };
        var request = server.receiveHead() catch |failure| return refuse(&timed.writer, failure);
        answer(&request) catch return;
        if (!request.head.keep_alive) return;
    }
}

fn answer(request: *http.Server.Request) http.Server.Request.ExpectContinueError!void {
    const target = request.head.target;
    const path = target[0 .. std.mem.findScalar(u8, target, '?') orelse target.len];
    const keep_alive = request.head.keep_alive;
    if (!std.mem.eql(u8, path, "/hello")) {
        return request.respond("", .{ .status = .not_found, .keep_alive = keep_alive });
    }
    switch (request.head.method) {
        // No body is sent in answer to HEAD.
        .GET, .HEAD => try request.respond("Hello, world!", .{
            .keep_alive = keep_alive,
            .extra_headers = &.{.{ .name = "content-type", .value = "text/plain" }},
        }),
        else => try request.respond("", .{
            .status = .method_not_allowed,
            .keep_alive = keep_alive,
            .extra_headers = &.{.{ .name = "allow", .value = "GET, HEAD" }},
        }),
    }
}

/// Says what was wrong with a head that is none, as far as the client can still be told.
fn refuse(writer: *Io.Writer, failure: http.Server.ReceiveHeadError) void {
    const status = switch (failure) {
        error.HttpHeadersInvalid => "400 Bad Request",
        error.HttpHeadersOversize => "431 Request Header Fields Too Large",
        error.HttpRequestTruncated, error.HttpConnectionClosing, error.ReadFailed => return,
    };
    writer.print("HTTP/1.1 {s}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n", .{status}) catch return;
    writer.flush() catch return;
}
