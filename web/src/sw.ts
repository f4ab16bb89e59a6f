// Serves what the reader writes as a module of this page's own origin: the page's content security policy allows no code from anywhere else.
/// <reference lib="webworker" />
const scope = globalThis as unknown as ServiceWorkerGlobalScope;

scope.addEventListener("install", () => void scope.skipWaiting());
scope.addEventListener("activate", (event) => event.waitUntil(scope.clients.claim()));
scope.addEventListener("fetch", (event) => {
  if (new URL(event.request.url).pathname.includes("/own/")) {
    const found = caches.open("own").then((it) => it.match(event.request.url));
    event.respondWith(found.then((it) => it ?? new Response("", { status: 404 })));
  }
});
export {};
