// Unpacks the page's scripts and runs them in their order. The policy allows each by its hash, packed or not. The
// scripts unpack values by the same function.
window.gunzip = (base64) => {
  const bytes = Uint8Array.fromBase64?.(base64) ?? Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")));
};
(async () => {
  const say = (text) => (document.getElementById("app").textContent = text);
  if (!window.DecompressionStream) return say("This page needs a browser of 2023 or newer.");
  const packed = [...document.querySelectorAll("[type='text/plain']")];
  for (const text of await Promise.all(packed.map(({ textContent }) => gunzip(textContent).text()))) {
    const script = document.createElement("script");
    script.textContent = text;
    document.body.append(script);
  }
})();
