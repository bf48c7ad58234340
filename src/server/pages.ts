/**
 * The pages of the window, as Vite built them: read once when the server starts, served from memory. They hold no
 * data, so whoever reaches the server may have them; what they show they ask the door for.
 */
import { readdirSync, readFileSync, existsSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import type { MiddlewareHandler } from 'hono';
import { sha256 } from '../event/canonical.ts';
import { PACKAGE_FOLDER } from '../package-folder.ts';
import type { DoorEnv } from './door.ts';

/** Where `npm run build` puts them, seen from the source and from the built package alike. */
export const PAGES_FOLDER: string = join(PACKAGE_FOLDER, 'dist', 'web');

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
  '.woff': 'font/woff',
};

/**
 * Nothing inline, nothing from elsewhere, nothing evaluated, no markup from text, in nobody's frame. `connect-src` is
 * the door.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
};

/** Its name holds the digest of what is in it. */
const HASHED = /^\/assets\//;
const FOR_EVER = 'public, max-age=31536000, immutable';
/** Kept, and asked about each time. */
const ASKED_ABOUT = 'no-cache';

/** Addresses of pages. `/sessions` is also one of the door: who asks for HTML gets the page. */
const PAGE = /^\/(?:|sign-in|sessions|s\/[^/]+|inbox|spend|suites(?:\/[^/]+)?|settings)$/;

type Served = { readonly bytes: Uint8Array<ArrayBuffer>; readonly type: string; readonly etag: string };
type Pages = ReadonlyMap<string, Served>;

const pagesIn = (folder: string): Pages => {
  if (!existsSync(folder)) return new Map();
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return new Map(
    files.map((entry) => {
      const path = join(entry.parentPath, entry.name);
      const bytes = Uint8Array.from(readFileSync(path));
      const type = TYPES[extname(path)] ?? 'application/octet-stream';
      const address = `/${relative(folder, path).split(sep).join('/')}`;
      return [address, { bytes, type, etag: `"${sha256(bytes).slice(0, 32)}"` }];
    }),
  );
};

/** Answers what is a page or a file of one, and leaves the rest to the door. */
export const servePages = (folder: string | undefined): MiddlewareHandler<DoorEnv> => {
  const pages: Pages = folder === undefined ? new Map() : pagesIn(folder);
  return async (context, next) => {
    const { method, path } = context.req;
    if (method !== 'GET' && method !== 'HEAD') return next();
    const isPage = PAGE.test(path) && wantsHtml(context.req.header('accept'));
    const address = isPage ? '/index.html' : path;
    const served = pages.get(address);
    if (!served) return isPage && folder !== undefined ? notBuilt() : next();
    const headers = {
      ...HEADERS,
      'content-type': served.type,
      etag: served.etag,
      'cache-control': HASHED.test(address) ? FOR_EVER : ASKED_ABOUT,
      vary: 'accept',
    };
    if (context.req.header('if-none-match') === served.etag)
      return new Response(null, { status: 304, headers });
    return new Response(method === 'HEAD' ? null : served.bytes, { headers });
  };
};

/** A browser that goes somewhere says so; programs ask for JSON or for anything. */
const wantsHtml = (accept = ''): boolean => /\btext\/html\b/.test(accept);

const notBuilt = (): Response =>
  new Response('The pages are not built. Run "npm run build:web", then start the server again.\n', {
    status: 503,
    headers: { 'content-type': 'text/plain; charset=utf-8' },
  });
