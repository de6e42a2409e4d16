package touchstone.hello;

import io.netty.channel.ChannelInitializer;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpServerKeepAliveHandler;
import io.netty.handler.timeout.IdleStateHandler;
import io.netty.handler.timeout.WriteTimeoutHandler;
import java.util.concurrent.TimeUnit;

/** The handlers of one connection. */
final class Pipeline extends ChannelInitializer<SocketChannel> {
  private final Config config;
  private final HelloHandler handler;
  private final ChannelGroup open;

  Pipeline(Config config, HelloHandler handler, ChannelGroup open) {
    this.config = config;
    this.handler = handler;
    this.open = open;
  }

  @Override
  protected void initChannel(SocketChannel channel) {
    open.add(channel);
    channel
        .pipeline()
        .addLast(new IdleStateHandler(0, 0, config.idleTimeout(), TimeUnit.MILLISECONDS))
        .addLast(new WriteTimeoutHandler(config.writeTimeout(), TimeUnit.MILLISECONDS))
        .addLast(new RequestTimeoutHandler(config.requestTimeout()))
        .addLast(new HttpServerCodec())
        .addLast(new HttpServerKeepAliveHandler())
        .addLast(handler);
  }
}
