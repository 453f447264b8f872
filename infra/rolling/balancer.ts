import { type Server, type Socket, connect, createServer } from 'node:net';

/**
 * One address before several instances, as a Kubernetes Service is: each new connection goes to the next instance in
 * rotation, and stays there. Nothing is read, nothing repeated.
 */
export class Balancer {
  private readonly server: Server;
  /** The ports of the instances. */
  private readonly instances: number[] = [];
  private turn = 0;

  private constructor() {
    this.server = createServer({ allowHalfOpen: true, noDelay: true }, (caller) => this.pass(caller));
  }

  /** @throws the listen error, for instance EADDRINUSE. */
  static async listen(port: number): Promise<Balancer> {
    const balancer = new Balancer();
    await new Promise<void>((resolve, reject) => {
      balancer.server.once('error', reject);
      balancer.server.listen(port, '127.0.0.1', resolve);
    });
    return balancer;
  }

  add(port: number): void {
    this.instances.push(port);
  }

  /** No new connection goes there; those that there are stay until one side ends them. */
  remove(port: number): void {
    const at = this.instances.indexOf(port);
    if (at !== -1) this.instances.splice(at, 1);
  }

  /** Takes no connection any more; those that there are stay. */
  close(): void {
    this.server.close();
  }

  private pass(caller: Socket): void {
    const port = this.instances[this.turn++ % Math.max(1, this.instances.length)];
    if (port === undefined) return void caller.resetAndDestroy();
    const instance = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
    join(caller, instance);
    join(instance, caller);
  }
}

/** What one side sends the other gets, its end included; a side that breaks takes the other with it. */
function join(from: Socket, to: Socket): void {
  from.pipe(to);
  from.on('error', () => to.resetAndDestroy());
}
