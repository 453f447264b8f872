import pg from 'pg';

/** A column of what a statement returns. */
export interface Column {
  readonly name: string;
  /** PostgreSQL's number of its type. */
  readonly type: number;
}

/** What PostgreSQL says of a statement that it has parsed and not run. */
interface Described {
  readonly parameters: number;
  readonly columns: readonly Column[];
}

/** A connection on which statements are parsed, never run. */
export class Describer {
  private readonly client: pg.Client;

  private constructor(client: pg.Client) {
    this.client = client;
  }

  static async connect(url: string): Promise<Describer> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    return new Describer(client);
  }

  end(): Promise<void> {
    return this.client.end();
  }

  /** @throws DatabaseError what PostgreSQL has against it */
  describe(text: string): Promise<Described> {
    return new Promise((resolve, reject) => {
      // pg submits anything of this shape; the description of parameters is an event of the connection alone.
      this.client.query(new Description(text, resolve, reject) as unknown as pg.Submittable);
    });
  }

  /** Names of types by their numbers, and of which type an array is. */
  async types(): Promise<Map<number, { name: string; element: number }>> {
    const { rows } = await this.client.query<{ oid: number; name: string; element: number }>(
      `SELECT t.oid, CASE WHEN t.typtype = 'd' THEN format_type(t.typbasetype, NULL) ELSE t.typname END AS name,
              CASE WHEN t.typcategory = 'A' THEN t.typelem ELSE 0 END AS element FROM pg_type t`,
    );
    return new Map(rows.map(({ oid, name, element }) => [oid, { name, element }]));
  }
}

interface Wire {
  parse(query: { text: string; name: string; types: [] }): void;
  describe(message: { type: 'S' }): void;
  sync(): void;
  once(event: 'parameterDescription', heard: (message: { dataTypeIDs: number[] }) => void): void;
  removeListener(event: 'parameterDescription', heard: (message: { dataTypeIDs: number[] }) => void): void;
}

class Description {
  private parameters = 0;
  private columns: readonly Column[] = [];
  private wire: Wire | undefined;
  private readonly text: string;
  private readonly resolve: (described: Described) => void;
  private readonly reject: (error: Error) => void;

  constructor(text: string, resolve: (described: Described) => void, reject: (error: Error) => void) {
    this.text = text;
    this.resolve = resolve;
    this.reject = reject;
  }

  submit(connection: unknown): void {
    this.wire = connection as Wire;
    this.wire.once('parameterDescription', this.hear);
    this.wire.parse({ text: this.text, name: '', types: [] });
    this.wire.describe({ type: 'S' });
    this.wire.sync();
  }

  handleRowDescription({ fields }: { fields: readonly { name: string; dataTypeID: number }[] }): void {
    this.columns = fields.map(({ name, dataTypeID }) => ({ name, type: dataTypeID }));
  }

  /** pg tells a query nothing more after its error. */
  handleError(error: Error): void {
    this.wire?.removeListener('parameterDescription', this.hear);
    this.reject(error);
  }

  handleReadyForQuery(): void {
    this.wire?.removeListener('parameterDescription', this.hear);
    this.resolve({ parameters: this.parameters, columns: this.columns });
  }

  private readonly hear = (message: { dataTypeIDs: number[] }): void => {
    this.parameters = message.dataTypeIDs.length;
  };
}
