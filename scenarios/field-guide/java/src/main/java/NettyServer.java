import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.TooLongHttpLineException;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.QueryStringDecoder;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

/** Netty's codec, with what its examples add: an aggregator, and the status for what it could not decode. */
final class NettyServer extends SimpleChannelInboundHandler<FullHttpRequest> {
    public static void main(String[] args) throws InterruptedException {
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(NioIoHandler.newFactory());
        new ServerBootstrap()
            .group(group)
            .channel(NioServerSocketChannel.class)
            .childHandler(new ChannelInitializer<SocketChannel>() {
                @Override
                protected void initChannel(SocketChannel channel) {
                    channel.pipeline().addLast(new HttpServerCodec(), new HttpObjectAggregator(65536), new NettyServer());
                }
            })
            .bind(Address.HOST, Address.PORT)
            .sync();
        Address.onStop(() -> group.shutdownGracefully().syncUninterruptibly());
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) {
        boolean keep = HttpUtil.isKeepAlive(request) && request.decoderResult().isSuccess();
        HttpResponseStatus status = status(request);
        Runnable answer = () -> answer(context, status, keep);
        if (new QueryStringDecoder(request.uri()).path().equals("/slow")) {
            context.executor().schedule(answer, 1, TimeUnit.SECONDS);
        } else {
            answer.run();
        }
    }

    private static HttpResponseStatus status(FullHttpRequest request) {
        if (request.decoderResult().isSuccess()) {
            String path = new QueryStringDecoder(request.uri()).path();
            return path.equals("/hello") || path.equals("/slow") ? HttpResponseStatus.OK : HttpResponseStatus.NOT_FOUND;
        }
        Throwable cause = request.decoderResult().cause();
        if (cause instanceof TooLongHttpLineException) {
            return HttpResponseStatus.REQUEST_URI_TOO_LONG;
        }
        return cause instanceof TooLongHttpHeaderException
            ? HttpResponseStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
            : HttpResponseStatus.BAD_REQUEST;
    }

    private static void answer(ChannelHandlerContext context, HttpResponseStatus status, boolean keep) {
        String text = status.code() == 200 ? Address.HELLO : "";
        var body = Unpooled.copiedBuffer(text, StandardCharsets.UTF_8);
        var response = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, status, body);
        response.headers().set(HttpHeaderNames.CONTENT_TYPE, "text/plain");
        HttpUtil.setContentLength(response, body.readableBytes());
        if (!keep) {
            response.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
        }
        var written = context.writeAndFlush(response);
        if (!keep) {
            written.addListener(ChannelFutureListener.CLOSE);
        }
    }
}
