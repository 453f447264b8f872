import { ConfigError } from '@customer-platform/config';

/**
 * The database is not of the installation that it meets: it is a copy, it was moved, or what it was led to is another's. Only whoever
 * runs the platform knows which.
 */
export class OtherInstallation extends ConfigError {
  constructor(what: string) {
    super(
      `${what}. If this database has taken the other's place, run "platform installation adopt"; if it is a copy, run ` +
        `"platform installation renew" and lead it nowhere that the original uses.`,
    );
  }
}
