import { cacheFolder, MissingProgram, WORKSPACE } from '@customer-platform/testing';
import { type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

const FOLDER = join(WORKSPACE, 'apps/identity/test/webkit');
const OLDEST_JAVA = 17;
const COMPLAINT_CHARACTERS = 4_000;
/** A page that an engine refuses to load is told so, and does not keep the others waiting. */
const PATIENCE_MS = 60_000;

/** A page as a tab shows it once it is loaded. */
export interface Loaded {
  readonly url: URL;
  readonly html: string;
}

type Pending = PromiseWithResolvers<Loaded>;

/** WebKit as a program of its own, without a screen; all that it asks for goes through a proxy. */
export class WebKitProgram {
  private readonly pending = new Map<string, Pending>();
  private complaints = '';

  private constructor(private readonly child: ChildProcessWithoutNullStreams) {
    const complain = (text: string): void => {
      this.complaints = (this.complaints + text).slice(-COMPLAINT_CHARACTERS);
    };
    child.stderr.on('data', (chunk: Buffer) => complain(chunk.toString()));
    child.stdin.on('error', ({ message }) => complain(message));
    child.once('exit', () => {
      for (const tab of this.pending.keys()) this.fail(tab, `WebKit has ended: ${this.complaints}`);
    });
    createInterface({ input: child.stdout }).on('line', (line) => this.hear(line));
  }

  /** @throws MissingProgram without Java or Maven */
  static async start(proxyPort: number): Promise<WebKitProgram> {
    await demandJava();
    const jars = await jarsFolder();
    const options = [
      '-Xmx512m',
      `-Djavafx.cachedir=${join(jars, 'unpacked')}`,
      '-Dhttp.proxyHost=127.0.0.1',
      `-Dhttp.proxyPort=${String(proxyPort)}`,
      // Else what is on this machine is asked for past the proxy.
      '-Dhttp.nonProxyHosts=',
    ];
    const program = ['-cp', join(jars, '*'), join(FOLDER, 'WebKit.java')];
    return new WebKitProgram(spawn('java', [...options, ...program]));
  }

  /** Tells a tab what to do. */
  tell(tab: string, verb: 'open' | 'run' | 'back' | 'forget', text = ''): void {
    this.child.stdin.write(`${tab} ${verb} ${Buffer.from(text).toString('base64')}\n`);
  }

  /** Resolves to what the tab shows next. */
  loaded(tab: string): Promise<Loaded> {
    const pending = Promise.withResolvers<Loaded>();
    this.pending.set(tab, pending);
    if (this.child.exitCode !== null) this.fail(tab, `WebKit has ended: ${this.complaints}`);
    const late = setTimeout(
      () => this.fail(tab, `WebKit has loaded nothing. ${this.complaints}`),
      PATIENCE_MS,
    );
    return pending.promise.finally(() => clearTimeout(late));
  }

  /** The program ends with its input. */
  async end(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const gone = once(this.child, 'exit');
    this.child.stdin.end();
    await gone;
  }

  private hear(line: string): void {
    const [tab = '', what, encoded = ''] = line.split(' ');
    const text = Buffer.from(encoded, 'base64').toString();
    if (what !== 'loaded') return this.fail(tab, text);
    const [address = ''] = text.split('\n', 1);
    this.pending.get(tab)?.resolve({ url: new URL(address), html: text.slice(address.length + 1) });
    this.pending.delete(tab);
  }

  private fail(tab: string, why: string): void {
    this.pending.get(tab)?.reject(new Error(why));
    this.pending.delete(tab);
  }
}

async function demandJava(): Promise<void> {
  const { stdout } = await promisify(execFile)('javac', ['-version']).catch((cause: unknown) => {
    throw new MissingProgram(`WebKit needs a JDK of Java ${String(OLDEST_JAVA)} or later.`, { cause });
  });
  const version = Number(/\d+/.exec(stdout)?.[0]);
  if (version < OLDEST_JAVA)
    throw new MissingProgram(`WebKit needs Java ${String(OLDEST_JAVA)}; this is ${stdout}`);
}

/** The folder of the jars, which Maven fetches once per pom.xml: it knows which are of this system. */
async function jarsFolder(): Promise<string> {
  const pom = join(FOLDER, 'pom.xml');
  const version = createHash('sha256').update(readFileSync(pom)).digest('hex').slice(0, 12);
  const folder = join(await cacheFolder(), `webkit-${version}`);
  if (existsSync(folder)) return folder;
  const draft = `${folder}.${String(process.pid)}`;
  const goal = ['dependency:copy-dependencies', `-DoutputDirectory=${draft}`];
  await promisify(execFile)('mvn', ['-q', '-B', '-C', '-f', pom, ...goal]).catch((cause: unknown) => {
    rmSync(draft, { recursive: true, force: true });
    throw new MissingProgram('WebKit is fetched by Maven, which is not here or could not.', { cause });
  });
  // Another test may have been first; its copy is as good.
  if (existsSync(folder)) rmSync(draft, { recursive: true });
  else renameSync(draft, folder);
  return folder;
}
