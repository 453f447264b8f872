/** A browser for pages that need no script: cookies, redirects, and the forms of the platform's sign-in. */
const MOST_STEPS = 20;
const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
};

/** A form of a page: where it goes, and what it sends already. */
interface Form {
  readonly action: string;
  readonly fields: Readonly<Record<string, string>>;
}

/** What the browser has come to: a page, or an address elsewhere that it was sent to. */
interface Arrival {
  readonly url: URL;
  readonly status: number;
  readonly forms: readonly Form[];
  readonly text: string;
}

export class FormBrowser {
  private readonly cookies = new Map<string, string>();
  private readonly home: string;

  /** @param baseUrl where the platform is; addresses elsewhere are not followed, only told */
  constructor(baseUrl: string) {
    this.home = new URL(baseUrl).origin;
  }

  async open(address: string): Promise<Arrival> {
    return this.go(new URL(address, this.home), {});
  }

  /** Sends the form of the page that has the step, with what is typed into it. */
  async submit({ url, forms }: Arrival, step: string, typed: Record<string, string> = {}): Promise<Arrival> {
    const form = forms.find(({ fields }) => fields['step'] === step);
    if (!form) throw new Error(`${url.pathname} has no form for ${step}.`);
    const body = new URLSearchParams({ ...form.fields, ...typed });
    return this.go(new URL(form.action, url), { method: 'POST', body });
  }

  /** Signs in with a password from an authorization request to its answer. @returns where the answer was sent */
  async signIn(authorization: string, email: string, password: string): Promise<URL> {
    const asked = await this.open(authorization);
    const known = await this.submit(asked, 'email', { email });
    let at = await this.submit(known, 'password', { email, password });
    if (at.forms.some(({ fields }) => fields['step'] === 'allow')) at = await this.submit(at, 'allow');
    if (at.url.origin === this.home)
      throw new Error(`The sign-in ends at ${at.url.pathname} (${at.status}).`);
    return at.url;
  }

  /** Signs out as a client asks, and agrees to it. @returns where the browser ends */
  async signOut(address: string): Promise<URL> {
    const asked = await this.open(address);
    const form = asked.forms.find(({ fields }) => fields['xsrf'] !== undefined);
    if (!form) throw new Error(`${asked.url.pathname} asks nothing (${asked.status}).`);
    const body = new URLSearchParams({ ...form.fields, logout: 'yes' });
    return (await this.go(new URL(form.action, asked.url), { method: 'POST', body })).url;
  }

  private async go(url: URL, request: RequestInit): Promise<Arrival> {
    let [next, sent] = [url, request];
    for (let step = 0; step < MOST_STEPS; step += 1) {
      if (next.origin !== this.home) return { url: next, status: 0, forms: [], text: '' };
      const answer = await fetch(next, {
        ...sent,
        redirect: 'manual',
        headers: { cookie: this.cookieHeader(), accept: 'text/html' },
      });
      for (const line of answer.headers.getSetCookie()) this.keep(line);
      const text = await answer.text();
      const onward = answer.headers.get('location') ?? refreshOf(text);
      if (onward === undefined) return { url: next, status: answer.status, forms: formsOf(text), text };
      [next, sent] = [new URL(onward, next), {}];
    }
    throw new Error(`${url.href} leads on and on.`);
  }

  private cookieHeader(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  /** Paths are left aside: of two sign-ins at once each has a browser of its own. */
  private keep(line: string): void {
    const [pair = ''] = line.split(';');
    const at = pair.indexOf('=');
    const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
    if (value === '') this.cookies.delete(name);
    else this.cookies.set(name, value);
  }
}

function refreshOf(page: string): string | undefined {
  const content = /<meta http-equiv="refresh" content="\d+;\s*url=([^"]*)"/.exec(page)?.[1];
  return content === undefined ? undefined : unescaped(content);
}

function formsOf(page: string): Form[] {
  return [...page.matchAll(/<form[^>]*action="([^"]*)"[^>]*>([\s\S]*?)<\/form>/g)].map(
    ([, action = '', inner = '']) => {
      const inputs = [...inner.matchAll(/<input([^>]*)>/g)].map(([, attributes = '']) => [
        attributeOf(attributes, 'name'),
        attributeOf(attributes, 'value'),
      ]);
      return { action: unescaped(action), fields: Object.fromEntries(inputs) as Record<string, string> };
    },
  );
}

function attributeOf(attributes: string, name: string): string {
  return unescaped(new RegExp(`\\b${name}="([^"]*)"`).exec(attributes)?.[1] ?? '');
}

function unescaped(text: string): string {
  return text.replaceAll(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? entity);
}
