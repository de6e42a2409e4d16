package touchstone.quotes;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpServerKeepAliveHandler;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.handler.codec.http2.Http2StreamFrameToHttpObjectCodec;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** The handlers of one connection: of HTTP/1.1, or of HTTP/2 without TLS. */
final class Pipeline extends ChannelInitializer<SocketChannel> {
  private static final int LARGEST_BODY = 64 * 1024;

  private final WebHandler handler = new WebHandler();

  @Override
  protected void initChannel(SocketChannel channel) {
    channel.pipeline().addLast(new Preface());
  }

  private void speakHttp1(ChannelPipeline pipeline) {
    pipeline
        .addLast(new HttpServerCodec())
        .addLast(new HttpServerKeepAliveHandler())
        .addLast(new HttpObjectAggregator(LARGEST_BODY))
        .addLast(handler);
  }

  private void speakHttp2(ChannelPipeline pipeline) {
    pipeline
        .addLast(Http2FrameCodecBuilder.forServer().build())
        .addLast(
            new Http2MultiplexHandler(
                new ChannelInitializer<Channel>() {
                  @Override
                  protected void initChannel(Channel stream) {
                    stream
                        .pipeline()
                        .addLast(new Http2StreamFrameToHttpObjectCodec(true))
                        .addLast(new HttpObjectAggregator(LARGEST_BODY))
                        .addLast(handler);
                  }
                }));
  }

  /** Without TLS a client of HTTP/2 begins with its preface (RFC 9113, section 3.3). */
  private final class Preface extends ByteToMessageDecoder {
    private static final String BEGINNING = "PRI";

    @Override
    protected void decode(ChannelHandlerContext context, ByteBuf in, List<Object> out) {
      int length = Math.min(BEGINNING.length(), in.readableBytes());
      String begun = in.toString(in.readerIndex(), length, StandardCharsets.US_ASCII);
      if (begun.equals(BEGINNING)) {
        speakHttp2(context.pipeline());
        context.pipeline().remove(this);
      } else if (!BEGINNING.startsWith(begun)) {
        speakHttp1(context.pipeline());
        context.pipeline().remove(this);
      }
    }
  }
}
