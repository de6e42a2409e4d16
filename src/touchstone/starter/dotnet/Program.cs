// A service to begin from. HOST and PORT come from the environment; ASP.NET Core ends on SIGTERM.
var builder = WebApplication.CreateSlimBuilder(args);
builder.Logging.ClearProviders();
builder.WebHost.UseUrls($"http://{Environment.GetEnvironmentVariable("HOST")}:{Environment.GetEnvironmentVariable("PORT")}");
// The default of 30 s is the time for which a client that has sent half a request would keep the process.
builder.Services.Configure<HostOptions>(options => options.ShutdownTimeout = TimeSpan.FromSeconds(5));

var app = builder.Build();
app.MapGet("/ping", () => "pong");
app.MapFallback(() => Results.Text("not found", statusCode: 404));
app.Run();
