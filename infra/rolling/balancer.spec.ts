import { once } from 'node:events';
import { type AddressInfo, type Server, type Socket, connect, createServer } from 'node:net';
import { freePort } from '@customer-platform/kit/ports.ts';
import { Balancer } from './balancer.ts';

const servers: Server[] = [];
const callers: Socket[] = [];
afterEach(async () => {
  for (const caller of callers.splice(0)) caller.destroy();
  await Promise.all(servers.splice(0).map((server) => new Promise((done) => server.close(done))));
});

/** Says its name to whoever connects, and then whatever it hears. */
async function anInstance(name: string): Promise<number> {
  const server = createServer((socket) => {
    socket.write(name);
    socket.pipe(socket);
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

async function greeted(port: number): Promise<{ caller: Socket; name: string }> {
  const caller = connect(port, '127.0.0.1');
  callers.push(caller);
  const [name] = (await once(caller, 'data')) as [Buffer];
  return { caller, name: name.toString() };
}

describe('Balancer', () => {
  it('gives new connections to its instances in turn, and none to one that was removed', async () => {
    const address = await freePort();
    const balancer = await Balancer.listen(address);
    const [first, second] = [await anInstance('first'), await anInstance('second')];
    balancer.add(first);
    balancer.add(second);
    const names = [await greeted(address), await greeted(address)].map(({ name }) => name);
    expect(names.sort()).toEqual(['first', 'second']);
    balancer.remove(first);
    for (let at = 0; at < 3; at += 1) expect((await greeted(address)).name).toBe('second');
    balancer.close();
  });

  it('leaves a connection where it is when its instance is removed', async () => {
    const address = await freePort();
    const balancer = await Balancer.listen(address);
    const port = await anInstance('only');
    balancer.add(port);
    const { caller } = await greeted(address);
    balancer.remove(port);
    caller.write('still there');
    expect(String(((await once(caller, 'data')) as [Buffer])[0])).toBe('still there');
    const refused = connect(address, '127.0.0.1');
    await expect(once(refused, 'data')).rejects.toThrow();
    balancer.close();
  });
});
