// Shows what an open page has to say, where a browser lets only a worker do so; it hears of nothing by itself.

self.addEventListener("message", (event) => event.waitUntil(self.registration.showNotification(event.data.title, event.data.options)));

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(self.clients.matchAll({ type: "window", includeUncontrolled: true }).then((pages) => pages[0]?.focus()));
});
