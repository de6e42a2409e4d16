package touchstone.hello;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.unix.UnixChannelOption;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.util.concurrent.TimeUnit;

/** Serves {@code GET /hello} on Netty's epoll transport, its timeouts on. */
public final class Main {
  private static final int BACKLOG = 4096;
  private static final long DRAIN_SECONDS = 5;

  private Main() {}

  public static void main(String[] arguments) throws Exception {
    Config config;
    try {
      config = Config.fromEnvironment(System.getenv());
    } catch (IllegalArgumentException wrong) {
      System.err.println("hello: " + wrong.getMessage());
      System.exit(2);
      return;
    }
    Epoll.ensureAvailability();
    EventLoopGroup workers =
        new MultiThreadIoEventLoopGroup(config.workers(), EpollIoHandler.newFactory());
    ChannelGroup open = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
    HelloHandler handler = new HelloHandler();

    // One group accepts and serves, so that WORKERS is the number of threads.
    Channel listener =
        new ServerBootstrap()
            .group(workers)
            .channel(EpollServerSocketChannel.class)
            .option(ChannelOption.SO_BACKLOG, BACKLOG)
            .option(ChannelOption.SO_REUSEADDR, true)
            .option(UnixChannelOption.SO_REUSEPORT, true)
            .childOption(ChannelOption.TCP_NODELAY, true)
            .childHandler(new Pipeline(config, handler, open))
            .bind(config.address())
            .sync()
            .channel();
    System.err.println("hello: listening on " + listener.localAddress());

    Runtime.getRuntime().addShutdownHook(new Thread(() -> drain(listener, open, handler, workers)));
    listener.closeFuture().sync();
  }

  /** Stops accepting, lets requests under way end, and closes what is idle. */
  private static void drain(
      Channel listener, ChannelGroup open, HelloHandler handler, EventLoopGroup workers) {
    handler.drain();
    listener.close().awaitUninterruptibly();
    for (Channel channel : open) {
      channel.pipeline().fireUserEventTriggered(HelloHandler.Drain.INSTANCE);
    }
    open.newCloseFuture().awaitUninterruptibly(DRAIN_SECONDS, TimeUnit.SECONDS);
    workers.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
    // A virtual machine that a signal ends exits with 128 and the signal's number, whatever its hooks
    // did. This one has drained and is done: it ends as the other contenders do.
    Runtime.getRuntime().halt(0);
  }
}
