/** The OpenAPI description as one readable page: no script, nothing from elsewhere. */

type Operation = {
  readonly summary?: string;
  readonly description?: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly description?: string;
    readonly schema?: unknown;
  }[];
  readonly requestBody?: unknown;
  readonly responses?: Readonly<Record<string, { readonly description?: string } | undefined>>;
};

const METHODS = ['get', 'post', 'put', 'delete'] as const;

const escaped = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => `&#${character.codePointAt(0) ?? 0};`);

export const docsPage = (document: unknown): string => {
  const { paths = {}, components } = document as {
    readonly paths?: Readonly<Record<string, Readonly<Record<string, Operation | undefined>>>>;
    readonly components?: { readonly schemas?: Readonly<Record<string, unknown>> };
  };
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method];
      return operation ? [operationHtml(method, path, operation)] : [];
    }),
  );
  const schemas = Object.entries(components?.schemas ?? {}).map(
    ([name, schema]) =>
      `<details id="schema-${escaped(name)}"><summary>${escaped(name)}</summary><pre>${escaped(JSON.stringify(schema, null, 2))}</pre></details>`,
  );
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Onrecord HTTP API</title><style>${STYLE}</style></head><body><main><h1>Onrecord HTTP API</h1><p>Machine-readable: <a href="/openapi.json">/openapi.json</a>. Every request but health and this page carries <code>Authorization: Bearer TOKEN</code>.</p>${operations.join('')}<h2>Shapes</h2>${schemas.join('')}</main></body></html>`;
};

const operationHtml = (method: string, path: string, operation: Operation): string => {
  const { summary = '', description = '', parameters = [], requestBody, responses = {} } = operation;
  const rows = parameters.map(
    ({ name, in: place, required, description: about = '' }) =>
      `<tr><td><code>${escaped(name)}</code></td><td>${escaped(place)}${required === true ? ', required' : ''}</td><td>${escaped(about)}</td></tr>`,
  );
  const table = rows.length === 0 ? '' : `<table>${rows.join('')}</table>`;
  const body =
    requestBody === undefined
      ? ''
      : `<details><summary>Body</summary><pre>${escaped(JSON.stringify(requestBody, null, 2))}</pre></details>`;
  const answers = Object.entries(responses)
    .map(
      ([status, answer]) => `<li><code>${escaped(status)}</code> ${escaped(answer?.description ?? '')}</li>`,
    )
    .join('');
  return `<section><h2><span class="method">${method.toUpperCase()}</span> <code>${escaped(path)}</code></h2><p>${escaped(summary)}</p>${description === '' ? '' : `<p>${escaped(description)}</p>`}${table}${body}<ul>${answers}</ul></section>`;
};

const STYLE =
  ':root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;margin:0}main{max-width:52rem;margin:0 auto;padding:1.5rem}h2{font-size:1.05rem;margin:2rem 0 .25rem}code,pre{font-family:ui-monospace,monospace;font-size:.9em}pre{overflow:auto;padding:.75rem;border:1px solid #8884;border-radius:6px}.method{font-weight:700;letter-spacing:.02em}table{border-collapse:collapse}td{padding:.15rem .75rem .15rem 0;vertical-align:top}section{border-top:1px solid #8884}';
