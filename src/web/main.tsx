/** THE WINDOW: the pages that a server ships. They hold no truth: everything shown is asked of the door. */
import '@fontsource-variable/ibm-plex-sans/wght.css';
import '@fontsource/ibm-plex-mono/400.css';
import '@fontsource/ibm-plex-mono/600.css';
import './style/tokens.css';
import './style/base.css';
import './style/parts.css';
import './style/shell.css';
import './style/form.css';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './shell/app.tsx';
import { listenToKeys } from './shell/commands.ts';

const root = document.getElementById('root');
if (!root) throw new Error('index.html has no element "root".');
listenToKeys();
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
