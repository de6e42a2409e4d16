// A service to begin from. HOST and PORT come from the environment; ASP.NET Core ends on SIGTERM.
var builder = WebApplication.CreateSlimBuilder(args);
builder.Logging.ClearProviders();
builder.WebHost.UseUrls($"http://{Environment.GetEnvironmentVariable("HOST")}:{Environment.GetEnvironmentVariable("PORT")}");

var app = builder.Build();
app.MapGet("/ping", () => "pong");
app.MapFallback(() => Results.Text("not found", statusCode: 404));
app.Run();
