/** The line between a browser and its server: it can be cut, with everything that runs over it, and mended. */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

export class Line {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #to: number | undefined;
  #isCut = false;

  private constructor() {
    this.#server = createServer((near) => this.#join(near));
  }

  static async open(): Promise<Line> {
    const line = new Line();
    line.#server.listen(0, '127.0.0.1');
    await once(line.#server, 'listening');
    return line;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** The port that the far end listens on; undefined: nobody is there. */
  lead(to: number | undefined): void {
    this.#to = to;
  }

  /** Whatever runs over it breaks off, and nothing gets through until it is mended. */
  cut(): void {
    this.#isCut = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  mend(): void {
    this.#isCut = false;
  }

  async close(): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #join(near: Socket): void {
    near.on('error', () => near.destroy());
    if (this.#isCut || this.#to === undefined) {
      near.destroy();
      return;
    }
    const far = connect(this.#to, '127.0.0.1');
    far.on('error', () => near.destroy());
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(socket);
      socket.on('close', () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  }
}
