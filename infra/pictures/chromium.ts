import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'chrome-headless-shell'];
const ARGUMENTS = [
  '--headless',
  '--no-sandbox',
  '--hide-scrollbars',
  '--disable-gpu',
  '--remote-debugging-port=0',
];
const PATIENCE_MS = 20_000;
const LOOK_EVERY_MS = 50;

/** What a page is looked at through. */
export interface Screen {
  width: number;
  height: number;
  /** As a phone: its layout viewport, touch, and no scroll bars. */
  mobile: boolean;
}

interface Answer {
  id?: number;
  result?: Record<string, unknown>;
  error?: { message: string };
}

/** @throws Error with the remedy where there is none */
export function findChromium(given: string | undefined): string {
  const found = [given, process.env['CHROMIUM'], ...NAMES]
    .filter((name) => name !== undefined)
    .find((name) => spawnSync(name, ['--version']).status === 0);
  if (found === undefined)
    throw new Error(`There is no Chromium (${NAMES.join(', ')}): install one, or name it in CHROMIUM.`);
  return found;
}

/** A Chromium without a window, spoken to by the DevTools protocol: enough to look at a page. */
export class Chromium {
  private readonly waiting = new Map<number, (answer: Answer) => void>();
  private counter = 0;
  private session: string | undefined;

  private readonly child: ChildProcess;
  private readonly folder: string;
  private readonly socket: WebSocket;

  private constructor(child: ChildProcess, folder: string, socket: WebSocket) {
    this.child = child;
    this.folder = folder;
    this.socket = socket;
    socket.addEventListener('message', ({ data }) => {
      const answer = JSON.parse(String(data)) as Answer;
      if (answer.id !== undefined) this.waiting.get(answer.id)?.(answer);
    });
  }

  static async start(program: string): Promise<Chromium> {
    const folder = mkdtempSync(join(tmpdir(), 'customer-platform-chromium-'));
    const child = spawn(program, [...ARGUMENTS, `--user-data-dir=${folder}`, 'about:blank'], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const socket = new WebSocket(await addressOf(child));
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve);
      socket.addEventListener('error', reject);
    });
    const chromium = new Chromium(child, folder, socket);
    const { targetId } = await chromium.call('Target.createTarget', { url: 'about:blank' });
    const { sessionId } = await chromium.call('Target.attachToTarget', { targetId, flatten: true });
    chromium.session = String(sessionId);
    return chromium;
  }

  /** Opens an address, waits until an expression is true there, and takes a picture: a PNG. */
  async picture(url: string, screen: Screen, ready: string): Promise<Buffer> {
    await this.call('Emulation.setDeviceMetricsOverride', { ...screen, deviceScaleFactor: 1 });
    // Of a page that differs in its fragment only, nothing would be loaded.
    await this.call('Page.navigate', { url: 'about:blank' });
    await this.call('Page.navigate', { url });
    const deadline = Date.now() + PATIENCE_MS;
    for (let shown = false; !shown;) {
      if (Date.now() > deadline) throw new Error(`${url} does not show what it should: ${ready}`);
      await new Promise((done) => setTimeout(done, LOOK_EVERY_MS));
      const { result } = await this.call('Runtime.evaluate', { expression: `Boolean(${ready})` });
      shown = (result as { value?: boolean }).value === true;
    }
    const { data } = await this.call('Page.captureScreenshot', { format: 'png' });
    return Buffer.from(String(data), 'base64');
  }

  async close(): Promise<void> {
    const ended = new Promise((resolve) => this.child.once('exit', resolve));
    this.socket.close();
    this.child.kill('SIGTERM');
    await ended;
    rmSync(this.folder, { recursive: true, force: true });
  }

  private async call(method: string, params: object): Promise<Record<string, unknown>> {
    const id = ++this.counter;
    const answered = new Promise<Answer>((resolve) => this.waiting.set(id, resolve));
    const sessionId = this.session;
    this.socket.send(
      JSON.stringify({ id, method, params, ...(sessionId === undefined ? {} : { sessionId }) }),
    );
    const { result = {}, error } = await answered;
    this.waiting.delete(id);
    if (error) throw new Error(`${method}: ${error.message}`);
    return result;
  }
}

async function addressOf(child: ChildProcess): Promise<string> {
  let said = '';
  return new Promise((resolve, reject) => {
    child.once('exit', () => reject(new Error(`Chromium ended: ${said}`)));
    child.once('error', reject);
    child.stderr?.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      const address = /DevTools listening on (ws:\S+)/.exec(said)?.[1];
      if (address !== undefined) resolve(address);
    });
  });
}
