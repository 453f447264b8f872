/** Where a Node process waits for a debugger once it has had SIGUSR1. */
const INSPECTOR = 'http://127.0.0.1:9229/json/list';
const OPEN_WITHIN_MS = 5_000;
const SAMPLE_EVERY_US = 500;

/** A function in the tree of calls, as the inspector's `Profiler` domain gives it. */
export interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  readonly children?: readonly number[];
}

/** What a process did: which node each sample found at work, and how many microseconds went by before it. */
export interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

/**
 * Samples a running Node process through its inspector, which is open for that long only.
 * @throws Error where another process has the inspector's port, or this one does not open it within 5 s
 */
export async function profileProcess(pid: number, seconds: number): Promise<CpuProfile> {
  if (await debuggerOf()) throw new Error('Another process has its inspector open on port 9229.');
  process.kill(pid, 'SIGUSR1');
  const inspector = await Inspector.open(await opened());
  try {
    await inspector.call('Profiler.enable');
    await inspector.call('Profiler.setSamplingInterval', { interval: SAMPLE_EVERY_US });
    await inspector.call('Profiler.start');
    await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
    const { profile } = (await inspector.call('Profiler.stop')) as { profile: CpuProfile };
    return profile;
  } finally {
    await inspector.shut();
  }
}

async function debuggerOf(): Promise<string | undefined> {
  try {
    const targets = (await (await fetch(INSPECTOR)).json()) as { webSocketDebuggerUrl: string }[];
    return targets[0]?.webSocketDebuggerUrl;
  } catch {
    return undefined;
  }
}

async function opened(): Promise<string> {
  const deadline = Date.now() + OPEN_WITHIN_MS;
  for (;;) {
    const url = await debuggerOf();
    if (url !== undefined) return url;
    if (Date.now() > deadline) throw new Error('The process did not open its inspector on port 9229.');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** A connection to a process's inspector. */
class Inspector {
  private readonly waiting = new Map<number, (answer: unknown) => void>();
  private readonly socket: WebSocket;
  private calls = 0;

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.addEventListener('message', ({ data }) => {
      const { id, result } = JSON.parse(String(data)) as { id?: number; result?: unknown };
      if (id !== undefined) this.waiting.get(id)?.(result);
    });
  }

  static async open(url: string): Promise<Inspector> {
    const socket = new WebSocket(url);
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve);
      socket.addEventListener('error', () => reject(new Error('The inspector refused the connection.')));
    });
    return new Inspector(socket);
  }

  call(method: string, params: object = {}): Promise<unknown> {
    const id = (this.calls += 1);
    this.socket.send(JSON.stringify({ id, method, params }));
    return new Promise((resolve) => this.waiting.set(id, resolve));
  }

  /** Has the process close its inspector: its port is the next one's. */
  async shut(): Promise<void> {
    const closed = new Promise((resolve) => this.socket.addEventListener('close', resolve));
    const expression = `setImmediate(() => process.getBuiltinModule('inspector').close())`;
    void this.call('Runtime.evaluate', { expression });
    await closed;
    while (await debuggerOf()) await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
