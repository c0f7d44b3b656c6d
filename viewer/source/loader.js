// Unpacks the page's scripts and runs them in their order. The policy allows each by its hash, packed or not.
(async () => {
  const say = (text) => (document.getElementById("app").textContent = text);
  if (!window.DecompressionStream) return say("This page needs a browser of 2023 or newer.");
  const packed = [...document.querySelectorAll("[type='text/plain']")];
  const texts = packed.map((element) => {
    const bytes = Uint8Array.from(atob(element.textContent), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).text();
  });
  for (const text of await Promise.all(texts)) {
    const script = document.createElement("script");
    script.textContent = text;
    document.body.append(script);
  }
})();
