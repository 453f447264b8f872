import { readFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
import { createServer as createSecureServer, type Server as SecureServer } from 'node:https';
import { createSecureContext, type SecureContextOptions, type TLSSocket } from 'node:tls';
import { z } from 'zod';
import { watchConnections } from './open-connections.js';
import { ConfigError } from './read-config.js';
import { namedFiles, readTlsFiles, type TlsContents, type TlsFiles } from './tls-files.js';
import { flag } from './values.js';

/** How the gateway, the modules and the Console speak to each other: without any of these, in plain HTTP. */
export const modulesTlsConfig = z.object({
  /** PEM files: whom to trust in place of the system's authorities … */
  MODULES_TLS_CA_FILE: z.string().optional(),
  /** … and the certificate and key of this process: of its listeners, and of itself where it calls. */
  MODULES_TLS_CERT_FILE: z.string().optional(),
  MODULES_TLS_KEY_FILE: z.string().optional(),
  /** Nobody is answered without a certificate of these authorities, but for its health. */
  MODULES_TLS_DEMAND_CLIENTS: flag().default(false),
});

type ModulesTlsConfig = z.infer<typeof modulesTlsConfig>;
const HANDSHAKE_MS = 10_000;
/** A certificate is renewed days before it ends. */
const LOOK_EVERY_MS = 10_000;
/** What the kubelet asks, which has no certificate. */
const HEALTH = new Set(['/health/live', '/health/ready']);

/** Told of files that changed and cannot be used; what they held before goes on. */
type Unusable = (error: unknown) => void;

const known = new Map<string, ModulesTls>();

/**
 * TLS between modules, by files that may be renewed while the process runs: what is made of them is made anew, and
 * connections that there are go on.
 */
export class ModulesTls {
  private contents: TlsContents;
  private readonly listeners = new Set<() => void>();

  private constructor(
    private readonly files: TlsFiles,
    private readonly demands: boolean,
  ) {
    this.contents = usable(readTlsFiles('MODULES_TLS', files));
  }

  /**
   * One for all of a process; undefined where nothing is configured.
   * @throws ConfigError of one sentence that names variables
   */
  static of(config: ModulesTlsConfig, unusable: Unusable): ModulesTls | undefined {
    const { MODULES_TLS_CA_FILE: ca, MODULES_TLS_CERT_FILE: cert, MODULES_TLS_KEY_FILE: key } = config;
    const demands = config.MODULES_TLS_DEMAND_CLIENTS;
    if (demands && (ca === undefined || cert === undefined || key === undefined))
      throw new ConfigError(
        'MODULES_TLS_DEMAND_CLIENTS needs MODULES_TLS_CA_FILE, MODULES_TLS_CERT_FILE and MODULES_TLS_KEY_FILE.',
      );
    if (ca === undefined && cert === undefined && key === undefined) return undefined;
    const name = JSON.stringify([ca, cert, key, demands]);
    const made = known.get(name) ?? new ModulesTls({ ca, cert, key }, demands);
    // eslint-disable-next-line house/registered-work -- looks whether files have been renewed, and takes nothing of a tenant's
    if (!known.has(name)) setInterval(() => void made.look().catch(unusable), LOOK_EVERY_MS).unref();
    known.set(name, made);
    return made;
  }

  /** What a caller connects with. */
  get client(): SecureContextOptions {
    return { ...this.contents, minVersion: 'TLSv1.2' };
  }

  /** Whether listeners speak TLS: who has no certificate of its own only trusts others'. */
  get listens(): boolean {
    return this.contents.cert !== undefined;
  }

  /** Reads the files again; it looks by itself as well. @throws where they cannot be used, which changes nothing */
  async look(): Promise<void> {
    const read = await Promise.all(
      namedFiles(this.files).map(async ([name, file]) => [name, await readFile(file, 'utf8')] as const),
    );
    const contents: TlsContents = Object.fromEntries(read);
    if (JSON.stringify(contents) === JSON.stringify(this.contents)) return;
    // Of two files one may be there before the other.
    this.contents = usable(contents);
    for (const changed of this.listeners) changed();
  }

  /** What `make` makes of what a caller connects with, made anew when that changes. */
  following<Given extends unknown[]>(
    make: (client: SecureContextOptions) => (...given: Given) => void,
  ): (...given: Given) => void {
    let made = make(this.client);
    this.listeners.add(() => (made = make(this.client)));
    return (...given) => made(...given);
  }

  /** A server by TLS. Whom it must not answer it knows by `refuses`. */
  server(options: ServerOptions, receive: RequestListener): Server {
    const asked = { requestCert: this.demands, rejectUnauthorized: false };
    const own = { ...options, ...asked, ...this.client, handshakeTimeout: HANDSHAKE_MS };
    const server: SecureServer = createSecureServer(own, receive);
    const renew = () => server.setSecureContext(this.client);
    this.listeners.add(renew);
    server.once('close', () => this.listeners.delete(renew));
    return server;
  }

  /** Whether a request comes from somebody without a certificate that this process trusts, and asks more than its health. */
  refuses({ socket, url = '' }: { readonly socket: object; readonly url?: string | undefined }): boolean {
    if (!this.demands || HEALTH.has(url)) return false;
    return (socket as Partial<TLSSocket>).authorized !== true;
  }
}

/** A server of a process that others call, watched: by TLS where that is configured. Who is refused is cut off. */
export function moduleServer(
  tls: ModulesTls | undefined,
  options: ServerOptions,
  receive: RequestListener,
): Server {
  if (!tls?.listens) return watchConnections(createServer(options, receive));
  const server = tls.server(options, (request, response) => {
    if (tls.refuses(request)) request.socket.destroy();
    else receive(request, response);
  });
  return watchConnections(server);
}

/** @throws where a certificate is none, or its key is another's */
function usable(contents: TlsContents): TlsContents {
  try {
    createSecureContext(contents);
  } catch (cause) {
    throw new ConfigError('The files of MODULES_TLS_* hold no certificate with its key.', { cause });
  }
  return contents;
}
