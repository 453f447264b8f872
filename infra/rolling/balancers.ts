import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';

/** What the process of the balancers is told. */
export interface Order {
  readonly id: number;
  /** The port that callers know. */
  readonly address: number;
  readonly what: 'listen' | 'add' | 'remove';
  /** Of the instance. */
  readonly port: number;
}

/** Addresses with a balancer each, in a process of their own: whoever makes the load shall not be in its way. */
export class Balancers {
  private readonly process: ChildProcess;
  private readonly waiting = new Map<number, PromiseWithResolvers<void>>();
  private orders = 0;

  constructor() {
    this.process = fork(join(import.meta.dirname, 'balancer-process.ts'), { execArgv: [] });
    this.process.on('message', ({ id, error }: { id: number; error?: string }) => {
      if (error === undefined) this.waiting.get(id)?.resolve();
      else this.waiting.get(id)?.reject(new Error(error));
      this.waiting.delete(id);
    });
    this.process.once('exit', () => {
      for (const { reject } of this.waiting.values()) reject(new Error('The balancers have ended.'));
    });
  }

  /** Opens an address. @throws Error with the listen error's message */
  listen(address: number): Promise<void> {
    return this.order(address, 'listen', 0);
  }

  /** From now on the instance at this port is given new connections. */
  add(address: number, port: number): Promise<void> {
    return this.order(address, 'add', port);
  }

  /** From now on it is given none. */
  remove(address: number, port: number): Promise<void> {
    return this.order(address, 'remove', port);
  }

  close(): void {
    this.process.kill();
  }

  private order(address: number, what: Order['what'], port: number): Promise<void> {
    const done = Promise.withResolvers<void>();
    this.orders += 1;
    this.waiting.set(this.orders, done);
    this.process.send({ id: this.orders, address, what, port } satisfies Order);
    return done.promise;
  }
}
