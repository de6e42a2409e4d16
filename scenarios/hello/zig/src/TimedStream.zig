//! A connection whose reads and writes end when they take too long, as the reader and the writer that
//! `std.http.Server` asks for.

const std = @import("std");
const Io = std.Io;

const TimedStream = @This();

io: Io,
stream: Io.net.Stream,
/// For the next bytes of the client.
read_timeout: Io.Timeout = .none,
write_timeout: Io.Timeout,
reader: Io.Reader,
writer: Io.Writer,

pub fn init(
    io: Io,
    stream: Io.net.Stream,
    write_timeout: Io.Duration,
    read_buffer: []u8,
    write_buffer: []u8,
) TimedStream {
    return .{
        .io = io,
        .stream = stream,
        .write_timeout = .{ .duration = .{ .raw = write_timeout, .clock = .awake } },
        .reader = .{ .vtable = &.{ .stream = streamTo, .readVec = readVec }, .buffer = read_buffer, .seek = 0, .end = 0 },
        .writer = .{ .vtable = &.{ .drain = drain }, .buffer = write_buffer },
    };
}

fn streamTo(reader: *Io.Reader, writer: *Io.Writer, limit: Io.Limit) Io.Reader.StreamError!usize {
    var data: [1][]u8 = .{limit.slice(try writer.writableSliceGreedy(1))};
    const count = try readVec(reader, &data);
    writer.advance(count);
    return count;
}

fn readVec(reader: *Io.Reader, data: [][]u8) Io.Reader.Error!usize {
    const timed: *TimedStream = @alignCast(@fieldParentPtr("reader", reader));
    var vectors: [8][]u8 = undefined;
    const used, const wanted = try reader.writableVector(&vectors, data);
    const operation: Io.Operation = .{ .net_read = .{
        .socket_handle = timed.stream.socket.handle,
        .data = vectors[0..used],
    } };
    const result = timed.io.operateTimeout(operation, timed.read_timeout) catch return error.ReadFailed;
    const count = (result.net_read catch return error.ReadFailed).data_len;
    if (count == 0) return error.EndOfStream;
    if (count <= wanted) return count;
    reader.end += count - wanted;
    return wanted;
}

fn drain(writer: *Io.Writer, data: []const []const u8, splat: usize) Io.Writer.Error!usize {
    const timed: *TimedStream = @alignCast(@fieldParentPtr("writer", writer));
    const operation: Io.Operation = .{ .net_write = .{
        .socket_handle = timed.stream.socket.handle,
        .header = writer.buffered(),
        .data = data,
        .splat = splat,
    } };
    const result = timed.io.operateTimeout(operation, timed.write_timeout) catch return error.WriteFailed;
    return writer.consume(result.net_write catch return error.WriteFailed);
}
