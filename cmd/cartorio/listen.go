package main

const defaultListen = "127.0.0.1:8081"
