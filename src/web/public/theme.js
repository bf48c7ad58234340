// Before the first paint: the theme that the reader chose, if it is not the system's. A file, because the policy of
// these pages allows no script inside them.
try {
  const { theme } = JSON.parse(localStorage.getItem('onrecord.settings') ?? '{}');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
  // Without storage, or with something else in it, the system's theme stands.
}
