/** A wire to a server that can be cut or frozen: everything goes over it until then. */
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

export class CutWire {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #far: number;
  #answersHeld = false;

  private constructor(server: Server, far: number) {
    this.#server = server;
    this.#far = far;
  }

  static async to(port: number): Promise<CutWire> {
    const server = createServer();
    const wire = new CutWire(server, port);
    server.on('connection', (near) => wire.#join(near, connect(wire.#far, '127.0.0.1')));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => wire.close());
    return wire;
  }

  get port(): number {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('the port is a number');
    return address.port;
  }

  /** From now on the server hears everything and nobody hears the server, on connections of now and later. */
  holdAnswers(): void {
    this.#answersHeld = true;
  }

  letThrough(): void {
    this.#answersHeld = false;
  }

  /** Ends every connection in the middle of whatever it said. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Leads to another server from now on; what led to the first one ends. */
  turn(port: number): void {
    this.#far = port;
    this.cut();
  }

  async close(): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #join(near: Socket, far: Socket): void {
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(from);
      from.on('data', (bytes) => {
        if (from === near || !this.#answersHeld) to.write(bytes);
      });
      from.on('error', () => to.destroy());
      from.on('close', () => {
        this.#sockets.delete(from);
        to.destroy();
      });
    }
  }
}
