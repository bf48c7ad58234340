/** One address for several servers: each connection goes to the next one that takes it, as a load balancer does it. */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

export class Balancer {
  readonly #server: Server;
  readonly #ports: number[] = [];
  readonly #sockets = new Set<Socket>();
  #next = 0;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async open(): Promise<Balancer> {
    const server = createServer();
    const balancer = new Balancer(server);
    server.on('connection', (near) => balancer.#join(near));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return balancer;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** One more server behind it, there yet or not. */
  add(port: number): void {
    this.#ports.push(port);
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #join(near: Socket): void {
    this.#sockets.add(near);
    near.on('close', () => this.#sockets.delete(near));
    near.on('error', () => near.destroy());
    const { length } = this.#ports;
    const first = this.#next++;
    const go = (tried: number): void => {
      const port = this.#ports[(first + tried) % length];
      if (port === undefined || tried === length) return void near.destroy();
      const far = connect(port, '127.0.0.1');
      let joined = false;
      far.once('connect', () => {
        joined = true;
        near.pipe(far).pipe(near);
      });
      far.on('error', () => (joined ? near.destroy() : go(tried + 1)));
      far.on('close', () => joined && near.destroy());
      near.once('close', () => far.destroy());
    };
    go(0);
  }
}
