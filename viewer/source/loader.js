// Unpacks the page's script. Its policy allows the script by its hash, packed or not.
(async () => {
  const say = (text) => (document.getElementById("app").textContent = text);
  if (!window.DecompressionStream) return say("This page needs a browser of 2023 or newer.");
  const text = atob(document.getElementById("packed").textContent);
  const bytes = Uint8Array.from(text, (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const script = document.createElement("script");
  script.textContent = await new Response(stream).text();
  document.body.append(script);
})();
