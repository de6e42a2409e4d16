package touchstone.quotes;

import io.grpc.Server;
import io.grpc.netty.NettyServerBuilder;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** Quotes over JSON and events by Netty on PORT, and over gRPC by grpc-netty on GRPC_PORT. */
public final class Main {
  private static final int BACKLOG = 4096;
  private static final long DRAIN_SECONDS = 5;

  private Main() {}

  public static void main(String[] arguments) throws Exception {
    String host = System.getenv().getOrDefault("HOST", "127.0.0.1");
    int workers = number("WORKERS", Runtime.getRuntime().availableProcessors());
    EventLoopGroup loops = new MultiThreadIoEventLoopGroup(workers, EpollIoHandler.newFactory());
    Server rpc =
        NettyServerBuilder.forAddress(new InetSocketAddress(host, number("GRPC_PORT", 50051)))
            .channelType(EpollServerSocketChannel.class)
            .bossEventLoopGroup(loops)
            .workerEventLoopGroup(loops)
            .executor(Executors.newVirtualThreadPerTaskExecutor())
            .addService(new RpcService())
            .build()
            .start();
    Channel web =
        new ServerBootstrap()
            .group(loops)
            .channel(EpollServerSocketChannel.class)
            .option(ChannelOption.SO_BACKLOG, BACKLOG)
            .option(ChannelOption.SO_REUSEADDR, true)
            .childOption(ChannelOption.TCP_NODELAY, true)
            .childHandler(new Pipeline())
            .bind(host, number("PORT", 8080))
            .sync()
            .channel();
    System.err.println("quotes: listening on " + web.localAddress() + ", for gRPC on port " + rpc.getPort());
    Runtime.getRuntime().addShutdownHook(new Thread(() -> drain(web, rpc, loops)));
    web.closeFuture().sync();
  }

  private static void drain(Channel web, Server rpc, EventLoopGroup loops) {
    web.close().awaitUninterruptibly();
    rpc.shutdown();
    try {
      rpc.awaitTermination(DRAIN_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
    loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
    // A virtual machine that a signal ends exits with 128 and the signal's number, whatever its hooks did.
    Runtime.getRuntime().halt(0);
  }

  private static int number(String name, int unset) {
    String text = System.getenv().getOrDefault(name, "");
    try {
      return text.isEmpty() ? unset : Integer.parseUnsignedInt(text);
    } catch (NumberFormatException wrong) {
      throw new IllegalArgumentException(name + "=" + text + ": give a whole number of 0 or more");
    }
  }
}
