declare module 'kafkajs/src/network/requestQueue/index.js' {
  const RequestQueue: { new (options: object): unknown; readonly prototype: unknown };
  export default RequestQueue;
}
