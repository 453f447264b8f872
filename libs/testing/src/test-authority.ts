import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, type Server } from 'node:tls';
import { generate } from 'selfsigned';

/** The PEM files of somebody with a certificate. */
export interface TestFiles {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
  /** As a process is told of them. */
  readonly environment: Readonly<Record<string, string>>;
}

/** An authority of a test's own, which signs certificates for 127.0.0.1. */
export class TestAuthority {
  private readonly fronts: Server[] = [];
  private readonly open = new Set<Socket>();

  private constructor(
    private readonly folder: string,
    private readonly own: { readonly key: string; readonly cert: string },
  ) {}

  static async make(): Promise<TestAuthority> {
    const made = await generate([{ name: 'commonName', value: 'an authority of tests' }], {
      keyType: 'ec',
      algorithm: 'sha256',
      extensions: [
        { name: 'basicConstraints', cA: true, critical: true },
        { name: 'keyUsage', keyCertSign: true, cRLSign: true },
      ],
    });
    const folder = await mkdtemp(join(tmpdir(), 'authority-'));
    return new TestAuthority(folder, { key: made.private, cert: made.cert });
  }

  /** Files with a new certificate under a name; those of that name before are written over, as a renewal does. */
  async issue(name: string): Promise<TestFiles> {
    const made = await generate([{ name: 'commonName', value: name }], {
      keyType: 'ec',
      algorithm: 'sha256',
      ca: this.own,
      extensions: [
        { name: 'basicConstraints', cA: false },
        { name: 'extKeyUsage', serverAuth: true, clientAuth: true },
        {
          name: 'subjectAltName',
          altNames: [
            { type: 7, ip: '127.0.0.1' },
            { type: 2, value: 'localhost' },
          ],
        },
      ],
    });
    const [ca, cert, key] = ['ca', 'crt', 'key'].map((end) => join(this.folder, `${name}.${end}`)) as [
      string,
      string,
      string,
    ];
    await writeFile(ca, this.own.cert);
    await writeFile(key, made.private);
    await writeFile(cert, made.cert);
    const environment = {
      MODULES_TLS_CA_FILE: ca,
      MODULES_TLS_CERT_FILE: cert,
      MODULES_TLS_KEY_FILE: key,
    };
    return { ca, cert, key, environment };
  }

  /**
   * What stands before a plain server of a test: it speaks TLS, takes nobody without a certificate of this authority,
   * and passes bytes on.
   * @returns its port
   */
  async before(port: number, server: TestFiles): Promise<number> {
    const [cert, key] = await Promise.all([readFile(server.cert), readFile(server.key)]);
    const front = createServer({ cert, key, ca: this.own.cert, requestCert: true }, (socket) => {
      const behind = connect(port, '127.0.0.1');
      for (const end of [socket, behind]) {
        this.open.add(end);
        // Whichever ends takes the other along.
        end
          .once('error', () => end.destroy())
          .once('close', () => [socket, behind].forEach((each) => each.destroy()));
      }
      socket.pipe(behind).pipe(socket);
    });
    // Who is not let in is told by the handshake.
    front.on('tlsClientError', () => undefined);
    this.fronts.push(front);
    await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
    return (front.address() as AddressInfo).port;
  }

  async remove(): Promise<void> {
    for (const front of this.fronts) front.close();
    for (const socket of this.open) socket.destroy();
    await rm(this.folder, { recursive: true });
  }
}
