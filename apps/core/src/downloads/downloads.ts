import { Readable } from 'node:stream';
import { Injectable, StreamableFile } from '@nestjs/common';
import { CredentialResolver, type MakerClaims } from '@customer-platform/authorization';
import { log, type RequestContext } from '@customer-platform/http';
import type { Permission } from '@customer-platform/permissions';

/** A file on its way: what reads all of it, and its pieces, of which one at a time is in memory. */
export interface Download {
  readonly needed: readonly Permission[];
  readonly pieces: AsyncIterable<string | Buffer>;
  /** The headers that tell what it is, where the answer does not say it. */
  readonly options?: ConstructorParameters<typeof StreamableFile>[1];
}

/** Whoever asked for it has the file no more by the rights of the moment at which it was begun. */
class NotAllowedAnyMore extends Error {}

/**
 * Hands files over for as long as whoever asked for them may have them. A reader takes as long as it likes to, hours for
 * a large file: each piece is given by the rights of its moment, and what breaks off is seen to be no whole file.
 */
@Injectable()
export class Downloads {
  constructor(private readonly resolver: CredentialResolver) {}

  /** The body of an answer; the connection is cut where the rights to it end. */
  file(context: RequestContext, { needed, pieces, options }: Download): StreamableFile {
    const given = this.whileAllowed(context, needed, pieces);
    const file = new StreamableFile(Readable.from(given, { objectMode: false }), options);
    return file.setErrorHandler((error, response) => {
      log.info({ err: error }, 'A file was not handed over to its end');
      response.destroy?.();
    });
  }

  /** Asked once a piece has been read, at which its reader had room for it. */
  private async *whileAllowed(
    context: RequestContext,
    needed: readonly Permission[],
    pieces: Download['pieces'],
  ): AsyncGenerator<string | Buffer> {
    for await (const piece of pieces) {
      for (const claims of askersOf(context)) await this.demand(claims, needed);
      yield piece;
    }
  }

  /**
   * Asks by who asked and not by the token, which ends after minutes; of a key by that very one, for what it was rotated to
   * is in other hands. An outage of the registry cuts nothing that was good.
   */
  private async demand(claims: MakerClaims, needed: readonly Permission[]): Promise<void> {
    const { organization_id, maker_type, maker_id } = claims;
    const options = { outlivesOutage: true };
    const { permissions, restriction } = await (maker_type === 'api_key'
      ? this.resolver.tenant({ organization_id, api_key_id: maker_id }, options)
      : this.resolver.maker(claims, options));
    const isAllowed = needed.every((permission) => permissions.has(permission));
    if (!isAllowed || restriction === 'organization_suspended') throw new NotAllowedAnyMore();
  }
}

/** Lists who must be allowed: whoever acts as somebody may have no more than both. */
function askersOf({ organizationId, principal, actor }: RequestContext): MakerClaims[] {
  const of = { organization_id: organizationId };
  const { type, id } = principal;
  if (type !== 'api_key' && type !== 'oauth_client' && type !== 'user')
    throw new Error(`No file is handed over to ${type}`);
  const askers: MakerClaims[] = [{ ...of, maker_type: type, maker_id: id }];
  const { impersonatorId } = actor;
  if (impersonatorId !== undefined) askers.push({ ...of, maker_type: 'user', maker_id: impersonatorId });
  return askers;
}
